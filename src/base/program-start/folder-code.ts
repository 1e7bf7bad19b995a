import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { liesIn } from '../programs/follow-symlinks.ts';
import { npmSettingsIn, npmUsesFolder, readNpmExec } from './npm-exec.ts';
import { hasModule, moduleFiles, readPythonStart } from './python-start.ts';
import {
  isInterpreter,
  isNode,
  isPython,
  isRunnerName,
  isShell,
  isWrapper,
  namedProgram,
  projectSettings,
} from './runner-names.ts';

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
   * the files that are there now, it would be guarded: `because` names who looks. With `guard`, the program itself is
   * kept from them, and the program that it starts is not.
   */
  | {
      readonly kind: 'runs';
      readonly files: readonly string[];
      readonly because?: FolderGuard;
      readonly guard?: FolderGuard;
    };

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
  if (command.includes('/') && liesIn(options.workspace, resolve(cwd, command))) return runs();
  if (!isInWorkspace(cwd, options) && !program.args.some((arg) => namesWorkspace(arg, cwd, options))) return none;
  if (searchesWorkspace(program, options)) return runs();
  const own = lookup(program, options);
  // What a container runs is in the container.
  if (own.kind === 'runs' || isContainer(program)) return own;
  const started = startedCode(program, options);
  if (started.kind === 'none') return own;
  return {
    ...runs(...(started.kind === 'runs' ? started.files : [])),
    ...(own.kind === 'guarded' ? own : {}),
    kind: 'runs',
  };
}

const none: FolderCode = { kind: 'none' };

function runs(...files: readonly string[]): Extract<FolderCode, { kind: 'runs' }> {
  return { kind: 'runs', files };
}

function guarded(guard: FolderGuard): FolderCode {
  return { kind: 'guarded', guard };
}

function lookup(program: StartedProgram, options: FolderOptions): FolderCode {
  const { args } = program;
  const name = commandName(program);
  const settings = projectSettings(name);
  if (settings !== undefined) return runs(...settings);
  if (isPython(name)) return pythonCode(program);
  if (isShell(name)) return shellCode(program);
  if (isInterpreter(name)) return namesPlaceHere(program) || args.some(isInline) ? runs() : none;
  if (isNode(name)) return nodeCode(program);
  switch (name) {
    case 'npx':
      return npmCode(program, args, options);
    case 'npm':
      return args[0] === 'exec' || args[0] === 'x' ? npmCode(program, args.slice(1), options) : runs('.npmrc');
    case 'uvx':
      return args.some(isPlaceWord) ? runs() : none;
    case 'uv':
      // Tools take their settings from the user alone; a project takes them from its folder.
      return args[0] === 'tool' && !args.some(isPlaceWord) ? none : runs('uv.toml', '.python-version');
    case 'docker':
    case 'podman':
      return args.includes('compose') ? runs() : none;
    default:
      return none;
  }
}

function commandName({ command }: StartedProgram): string {
  return namedProgram(basename(command)) ?? '';
}

function isContainer(program: StartedProgram): boolean {
  const name = commandName(program);
  return name === 'docker' || name === 'podman';
}

function npmCode({ cwd, env }: StartedProgram, args: readonly string[], options: FolderOptions): FolderCode {
  const exec = readNpmExec(args);
  const isOurs = (path: string): boolean => !isAbsolute(path) || isInWorkspace(path, options);
  if (exec === undefined || npmSettingsIn(env, options.home).some(isOurs)) return runs('.npmrc');
  return npmUsesFolder(exec, cwd, options.home) ? { ...runs('.npmrc'), because: 'npm' } : guarded('npm');
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
  if (isScriptElsewhere(program)) return namesCodeHere(program) ? runs() : none;
  return namesPlaceHere(program) || args.every((arg) => arg.startsWith('-')) ? runs() : none;
}

/** Then the other arguments are for the script. */
function isScriptElsewhere({ args: [script = '-'], cwd }: StartedProgram): boolean {
  if (script.startsWith('-') || script.length > maxPathLength) return false;
  const path = resolve(cwd, script);
  return !liesIn(cwd, path) && kindOf(path) === 'file';
}

/** Whether an argument is a file of the working folder, or a folder that a runtime could load. */
function namesCodeHere({ args, cwd }: StartedProgram): boolean {
  return args.some((arg) => {
    if (arg.startsWith('-') || arg.length > maxPathLength) return false;
    const path = resolve(cwd, arg);
    const kind = liesIn(cwd, path) ? kindOf(path) : 'absent';
    if (kind !== 'folder') return kind !== 'absent';
    return loadedFromFolder.some((name) => existsSync(join(path, name)));
  });
}

function kindOf(path: string): 'file' | 'folder' | 'absent' | 'other' {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'absent';
    return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
  } catch {
    return 'other'; // It may be there.
  }
}

const loadedFromFolder = ['package.json', 'index.js', 'index.mjs', 'index.cjs', 'index.ts'] as const;

function shellCode(program: StartedProgram): FolderCode {
  return namesPlaceHere(program) || program.args.some((arg) => /^-\w*c/.test(arg)) ? runs() : none;
}

/**
 * The runner, interpreter or shell that is named in the arguments and started by the program: `env npx x`,
 * `proxy --command "npx x"`. It cannot be guarded behind the other's arguments.
 */
function startedCode(program: StartedProgram, options: FolderOptions): FolderCode {
  const { args } = program;
  const isAny = isWrapper(commandName(program));
  let looked = 0;
  for (const words of [args, ...args.map(wordsOf)]) {
    for (const [index, word] of words.entries()) {
      const name = namedProgram(word);
      if (name === undefined || !isRunnerName(name, isAny)) continue;
      // Bounds the work. Nobody writes so many for a good reason.
      if (++looked > maxLooked) return runs();
      const found = lookup({ ...program, command: word, args: words.slice(index + 1) }, options);
      if (found.kind !== 'none') return found.kind === 'runs' ? found : runs('.npmrc');
    }
  }
  return none;
}

const maxLooked = 32;

/** The words of a command in one argument. Empty for a single word. */
function wordsOf(arg: string): readonly string[] {
  return /[\s=]/.test(arg) ? arg.split(/[\s"'`;|&()<>=]+/).filter((word) => word !== '') : [];
}

/** Whether its own PATH leads into the workspace. The PATH of the hub does not. */
function searchesWorkspace({ cwd, env }: StartedProgram, options: FolderOptions): boolean {
  return (env.PATH?.split(delimiter) ?? []).some((folder) => isInWorkspace(resolve(cwd, folder), options));
}

function namesWorkspace(arg: string, cwd: string, options: FolderOptions): boolean {
  return [arg, ...wordsOf(arg)].some(
    (word) => word.length <= maxPathLength && isInWorkspace(resolve(cwd, word), options),
  );
}

function isInWorkspace(path: string, { workspace }: FolderOptions): boolean {
  return liesIn(workspace, path) || liesIn(real(workspace), real(path));
}

/** Whether an argument is a file or folder of the working folder. */
function namesPlaceHere({ args, cwd }: StartedProgram): boolean {
  return args.some((arg) => {
    if (arg.startsWith('-') || arg.length > maxPathLength) return false;
    const path = resolve(cwd, arg);
    return liesIn(cwd, path) && existsSync(path);
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

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
