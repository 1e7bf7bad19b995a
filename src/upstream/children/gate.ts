/**
 * A child waits in a shell for one line. If the hub dies before that, the shell reads EOF and the
 * command never runs. POSIX `read` reads a pipe byte by byte, so the command gets everything after the line.
 */
export const gateLine = '\n';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly gated: boolean;
}

/**
 * A shell cannot pass on every variable: dash drops names that are not identifiers, and shells set some
 * names themselves. A child with such a variable starts without the gate, so that it gets its configured
 * environment. If the hub dies before its registration, the watchdog finds it by its cookie.
 */
export function planLaunch(
  command: string,
  args: readonly string[],
  configured: Readonly<Record<string, string>>,
): Launch {
  if (!Object.keys(configured).every(passesShell)) return { file: command, args, gated: false };
  return { file: '/bin/sh', args: ['-c', gateScript, 'sh', command, ...args], gated: true };
}

/** The command and its arguments are positional parameters, so no configured text is shell code. */
const gateScript = 'read -r QUARTERMASTER_GATE && unset QUARTERMASTER_GATE PWD OLDPWD SHLVL && exec "$@"';

const shellOwned: ReadonlySet<string> = new Set(
  `_ BASHOPTS BASH_ARGC BASH_ARGV BASH_VERSION DIRSTACK EUID FUNCNAME GROUPS IFS LINENO OLDPWD OPTIND
  POSIXLY_CORRECT PPID PWD QUARTERMASTER_GATE RANDOM SECONDS SHELLOPTS SHLVL UID`.split(/\s+/),
);

function passesShell(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !shellOwned.has(name);
}
