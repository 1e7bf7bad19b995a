import { existsSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { npmUsesFolder, readNpmExec } from './npm-exec.ts';
import { hasModule, moduleFiles, readPythonStart } from './python-start.ts';

/** A command that would be started in a folder. */
export interface StartedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What would look into its working folder for settings and code, and can be kept from it. */
export type FolderGuard = 'npm' | 'python';

/** How far files of its working folder, in the workspace, decide what a program runs. */
export type FolderCode =
  | { readonly kind: 'none' }
  /** They could, and it can be started so that they do not. */
  | { readonly kind: 'guarded'; readonly guard: FolderGuard }
  /**
   * They do. `files` are its settings there, by name; one that appears later counts as much as one that changes. Without
   * the files that are there now, it would be guarded: `because` names who looks.
   */
  | { readonly kind: 'runs'; readonly files: readonly string[]; readonly because?: FolderGuard };

export interface FolderOptions {
  readonly workspace: string;
  readonly home: string | undefined;
}

/**
 * An agent with file tools can write in the workspace, where programs start. Many look up settings or code there: it
 * would decide what runs at the next start.
 */
export function folderCode(program: StartedProgram, options: FolderOptions): FolderCode {
  const { command, cwd } = program;
  if (command.includes('/') && isBelow(options.workspace, resolve(cwd, command))) return runs();
  if (!isBelow(real(options.workspace), real(cwd))) return none;
  return lookup(program, options);
}

const none: FolderCode = { kind: 'none' };

function runs(...files: readonly string[]): Extract<FolderCode, { kind: 'runs' }> {
  return { kind: 'runs', files };
}

function guarded(guard: FolderGuard): FolderCode {
  return { kind: 'guarded', guard };
}

function lookup(program: StartedProgram, options: FolderOptions): FolderCode {
  const name = basename(program.command);
  const { args } = program;
  const settings = projectTools.get(name);
  if (settings !== undefined) return runs(...settings);
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return pythonCode(program);
  if (shells.has(name)) return shellCode(program);
  if (interpreters.has(name)) return namesPlaceHere(program) || args.some(isInline) ? runs() : none;
  switch (name) {
    case 'npx':
      return npmCode(program, args, options);
    case 'npm':
      return args[0] === 'exec' || args[0] === 'x' ? npmCode(program, args.slice(1), options) : runs('.npmrc');
    case 'node':
    case 'nodejs':
      return nodeCode(program);
    case 'uvx':
      return args.some(isPlaceWord) ? runs() : none;
    case 'uv':
      // Tools take their settings from the user alone; a project takes them from its folder.
      return args[0] === 'tool' && !args.some(isPlaceWord) ? none : runs('uv.toml', '.python-version');
    case 'docker':
    case 'podman':
      return args.includes('compose') ? runs() : none;
    default:
      return wrappers.has(name) ? wrappedCode(program, options) : none;
  }
}

function npmCode({ cwd }: StartedProgram, args: readonly string[], { home }: FolderOptions): FolderCode {
  const exec = readNpmExec(args);
  return exec === undefined
    ? runs('.npmrc')
    : npmUsesFolder(exec, cwd, home)
      ? { ...runs('.npmrc'), because: 'npm' }
      : guarded('npm');
}

function pythonCode(program: StartedProgram): FolderCode {
  const { args, cwd, env } = program;
  const start = readPythonStart(args);
  if (start.kind === 'script') return namesPlaceHere(program) ? runs() : none;
  const asked = env.PYTHONSAFEPATH;
  if (start.isolated || (asked ?? '') !== '') return none;
  if (start.kind === 'code') return runs();
  const files = moduleFiles(start.module);
  if (asked === '') return runs(...files);
  return hasModule(cwd, start.module) ? { ...runs(...files), because: 'python' } : guarded('python');
}

/** A script elsewhere imports from its own folder; code in an argument, and modules to load first, from this one. */
function nodeCode(program: StartedProgram): FolderCode {
  const { args } = program;
  if (args.some((arg) => isInline(arg) || /^(?:-r|--require|--import|--loader|--experimental-loader)\b/.test(arg))) {
    return runs();
  }
  return namesPlaceHere(program) || args.every((arg) => arg.startsWith('-')) ? runs() : none;
}

function shellCode(program: StartedProgram): FolderCode {
  return namesPlaceHere(program) || program.args.some((arg) => /^-\w*c/.test(arg)) ? runs() : none;
}

/** The program that `env`, `timeout` or the like starts. It cannot be guarded behind the other's arguments. */
function wrappedCode(program: StartedProgram, options: FolderOptions): FolderCode {
  for (const [index, command] of program.args.slice(0, maxWrappingWords).entries()) {
    if (wrappers.has(basename(command))) continue;
    const found = lookup({ ...program, command, args: program.args.slice(index + 1) }, options);
    if (found.kind !== 'none') return found.kind === 'runs' ? found : runs();
  }
  return none;
}

/** Bounds the work. */
const maxWrappingWords = 32;

/** Whether an argument is a file or folder of the working folder. */
function namesPlaceHere({ args, cwd }: StartedProgram): boolean {
  return args.some((arg) => {
    if (arg.startsWith('-') || arg.length > maxPathLength) return false;
    const path = resolve(cwd, arg);
    return isBelow(cwd, path) && existsSync(path);
  });
}

const maxPathLength = 4096;

function isInline(arg: string): boolean {
  return /^(?:-\w*[ep]|--eval|--print)(?:=|$)/.test(arg);
}

/** `--from .`, `--with-editable=./x`. */
function isPlaceWord(arg: string): boolean {
  return /^(?:--?[\w-]+=)?(?:\.{1,2}(?:\/|$)|file:)/.test(arg);
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Programs that look up what to run in the folder they start in, with their settings there. */
const projectTools: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['pnpm', ['.npmrc', '.pnpmfile.cjs', 'pnpm-workspace.yaml']],
  ['pnpx', ['.npmrc', '.pnpmfile.cjs', 'pnpm-workspace.yaml']],
  ['yarn', ['.npmrc', '.yarnrc', '.yarnrc.yml']],
  ['yarnpkg', ['.npmrc', '.yarnrc', '.yarnrc.yml']],
  ['bun', ['.npmrc', 'bunfig.toml']],
  ['bunx', ['.npmrc', 'bunfig.toml']],
  ['deno', ['deno.json', 'deno.jsonc']],
  ['tsx', ['tsconfig.json']],
  ['ts-node', ['tsconfig.json']],
  ...[
    'bundle',
    'cargo',
    'composer',
    'corepack',
    'docker-compose',
    'dotnet',
    'go',
    'gradle',
    'hatch',
    'just',
    'make',
    'mise',
    'mix',
    'mvn',
    'nix',
    'nix-shell',
    'nx',
    'pdm',
    'pipenv',
    'pipx',
    'poetry',
    'rake',
    'rye',
    'task',
    'turbo',
  ].map((name): [string, readonly string[]] => [name, []]),
]);

const shells: ReadonlySet<string> = new Set(['bash', 'dash', 'fish', 'ksh', 'pwsh', 'sh', 'zsh']);

const interpreters: ReadonlySet<string> = new Set([
  'Rscript',
  'elixir',
  'escript',
  'java',
  'julia',
  'lua',
  'osascript',
  'perl',
  'php',
  'ruby',
  'tclsh',
]);

/** Programs that start the program in their arguments. */
const wrappers: ReadonlySet<string> = new Set([
  'bwrap',
  'caffeinate',
  'direnv',
  'doas',
  'doppler',
  'dotenv',
  'dotenvx',
  'env',
  'firejail',
  'ionice',
  'nice',
  'nohup',
  'op',
  'sandbox-exec',
  'setsid',
  'stdbuf',
  'sudo',
  'time',
  'timeout',
  'xvfb-run',
]);
