import { basename } from 'node:path';

/** Programs that look up what to run in the folder they start in, with their settings there. */
const projectTools: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['pnpm', 'pnpx', 'pn', 'pnx'].map(withSettings('.npmrc', '.pnpmfile.cjs', 'pnpm-workspace.yaml')),
  ...['yarn', 'yarnpkg'].map(withSettings('.npmrc', '.yarnrc', '.yarnrc.yml')),
  ...['bun', 'bunx'].map(withSettings('.npmrc', 'bunfig.toml')),
  ...['deno'].map(withSettings('deno.json', 'deno.jsonc')),
  ...['tsx', 'ts-node', 'ts-node-esm'].map(withSettings('tsconfig.json')),
  ...['Rscript'].map(withSettings('.Rprofile', '.Renviron')),
  ...['direnv'].map(withSettings('.envrc')),
  ...['devbox'].map(withSettings('devbox.json')),
  ...['pixi'].map(withSettings('pixi.toml', 'pyproject.toml')),
  ...names('cargo composer corepack docker-compose dotnet gradlew hatch ipython jupyter mise mvnw nix nix-shell').map(
    withSettings(),
  ),
  ...names('nodemon nox pdm pipenv pipx poetry rye tox').map(withSettings()),
  // Agents take hooks and servers from the settings of their folder.
  ...names('aider amp claude codex copilot cursor-agent gemini goose opencode').map(withSettings()),
]);

/** The same, with names that are also ordinary words or names of other things. */
const ordinaryWords: ReadonlyMap<string, readonly string[]> = new Map(
  names('bundle go gradle just make mix mvn nx rake task turbo').map(withSettings()),
);

/** The settings of a program that looks up what to run in its folder. Undefined: it is not known as one. */
export function projectSettings(name: string): readonly string[] | undefined {
  return projectTools.get(name) ?? ordinaryWords.get(name);
}

const shells: ReadonlySet<string> = new Set(names('ash bash csh dash fish ksh mksh nu powershell pwsh sh tcsh zsh'));

export function isShell(name: string): boolean {
  return shells.has(name);
}

const interpreters: ReadonlySet<string> = new Set(
  names('elixir escript groovy java julia lua luajit osascript perl php ruby scala tclsh'),
);

export function isInterpreter(name: string): boolean {
  return interpreters.has(name);
}

export function isPython(name: string): boolean {
  return name === 'python' || name === 'pypy';
}

export function isNode(name: string): boolean {
  return name === 'node' || name === 'nodejs' || name === 'electron';
}

/** Programs that start the program in their arguments, whatever its name is. */
const wrappers: ReadonlySet<string> = new Set([
  ...names('asdf aws-vault bwrap busybox caffeinate catatonit chamber chroot chpst chrt cgexec conda cross-env'),
  ...names('dbus-run-session direnv doas doppler dotenv dotenvx dumb-init env envchain firejail flock fnm gosu'),
  ...names('heroku infisical ionice ltrace mamba micromamba nice nodenv nohup nsenter numactl nvm op parallel'),
  ...names('proxychains proxychains4 pyenv rbenv run0 runuser sandbox-exec script setarch setpriv setsid setuidgid'),
  ...names(
    'sops ssh-agent start-stop-daemon stdbuf strace su su-exec sudo systemd-run taskset teller time timeout tini',
  ),
  ...names('torsocks toybox unbuffer unshare volta watch winpty with-contenv wsl xargs xvfb-run'),
]);

export function isWrapper(name: string): boolean {
  return wrappers.has(name);
}

/** A runner, interpreter or shell that has no other meaning, or any known one if `all`. */
export function isRunnerName(name: string, all: boolean): boolean {
  if (['npx', 'npm', 'uv', 'uvx'].includes(name) || isNode(name) || isPython(name)) return true;
  return projectTools.has(name) || isShell(name) || isInterpreter(name) || (all && ordinaryWords.has(name));
}

/**
 * The program that a word names: `python` of `/opt/bin/python3.12`, `npx` of `npx-cli.js`. Undefined for names of packages,
 * addresses and relative paths with several parts, which name other things.
 */
export function namedProgram(word: string): string | undefined {
  if (word.length > longestPath || /^[@-]|:\/\//.test(word)) return undefined;
  if (word.includes('/') && !/^(?:\/|\.{1,2}\/|~\/)/.test(word)) return undefined;
  const name = basename(word);
  if (name.length > longestName) return undefined;
  const [, plain = '', version = ''] =
    /^([A-Za-z]+(?:-[A-Za-z]+)*\d?)(.*)$/s.exec(name.replace(scriptEnding, '')) ?? [];
  if (!/^[-.\d]*(?:exe)?$/.test(version)) return undefined;
  return known(plain) ?? known(plain.replace(/\d$/, '')) ?? plain;
}

/** `proxychains4` is a name, and the digit of `python3` is a version. */
function known(name: string): string | undefined {
  return isRunnerName(name, true) || isWrapper(name) ? name : undefined;
}

const scriptEnding = /(?:-cli)?\.[cm]?js$/;
const longestName = 40;
const longestPath = 4096;

function names(text: string): readonly string[] {
  return text.split(' ');
}

function withSettings(...settings: readonly string[]): (name: string) => [string, readonly string[]] {
  return (name) => [name, settings];
}
