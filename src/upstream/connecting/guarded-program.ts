import { HubError } from '../../base/index.ts';
import type { StdioTransportSpec } from '../../domain/index.ts';

/** A program with its guard. It starts in `startIn` and changes to its working folder itself. */
export interface GuardedProgram extends StdioTransportSpec {
  readonly startIn?: string;
}

/**
 * The program as it is started. An agent with file tools can write in the working folder; a program with a guard takes
 * neither settings nor code from there. The folder itself stays, because arguments and the server refer to it.
 */
export function guardedProgram(
  server: string,
  program: StdioTransportSpec,
  { npmShell }: { readonly npmShell: string },
): GuardedProgram {
  const { guard, args, env, cwd } = program;
  if (guard === 'npm') {
    // npm takes settings and packages from its prefix, and puts `node_modules/.bin` of its working folder and of all
    // folders above on the PATH. No agent writes in the root.
    const options = ['--prefix=/', `--script-shell=${npmShell}`];
    return { ...program, startIn: '/', args: [...options, ...args], env: { ...env, [folderVariable]: cwd } };
  }
  // Python 3.11 and newer. `-P` would do the same, but earlier versions refuse to start with it.
  if (guard === 'python') return { ...program, env: { ...env, PYTHONSAFEPATH: '1' } };
  if (guard === 'unapproved') throw unapprovedCode(server);
  return program;
}

const folderVariable = 'QUARTERMASTER_FOLDER';

/** The shell in which npm starts the program of a package: it goes to the server's working folder first. */
export const npmShellScript: string = `#!/bin/sh
cd "$${folderVariable}" || exit
INIT_CWD=$${folderVariable}
export INIT_CWD
unset ${folderVariable}
exec /bin/sh "$@"
`;

export function unapprovedCode(server: string): HubError {
  const message = `Server "${server}" is not started: it would run code of the workspace that nobody approved.`;
  return new HubError('NOT_TRUSTED', message, { hint: `Run \`qm trust ${server}\`.`, details: { server } });
}
