import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What a Python interpreter is asked to run. */
export type PythonStart =
  | { readonly kind: 'module'; readonly module: string; readonly isolated: boolean }
  | { readonly kind: 'script'; readonly script: string }
  /** `-c`, or the standard input: it imports from the working folder. */
  | { readonly kind: 'code'; readonly isolated: boolean };

export function readPythonStart(args: readonly string[]): PythonStart {
  let isolated = false;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-') || arg === '-') {
      return arg === '-' ? { kind: 'code', isolated } : { kind: 'script', script: arg };
    }
    if (arg.startsWith('--')) continue;
    // Short flags may be written together, and `m`, `c`, `W` and `X` take the rest or the next word.
    const [, flags = '', last = '', rest = ''] = /^-([^mcWX]*)([mcWX]?)(.*)$/s.exec(arg) ?? [];
    isolated ||= /[IP]/.test(flags);
    if (last === 'm') return { kind: 'module', module: rest === '' ? (args[index + 1] ?? '') : rest, isolated };
    if (last === 'c') return { kind: 'code', isolated };
    if (last !== '' && rest === '') index++;
  }
  return { kind: 'code', isolated };
}

/** The files in the folder that Python would take the module from. */
export function moduleFiles(module: string): readonly string[] {
  const parts = module.split('.').filter((part) => /^\w+$/.test(part));
  const path = parts.join('/');
  const packages = parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/__init__.py`);
  return path === '' ? [] : [`${path}.py`, `${path}/__main__.py`, ...packages];
}

/** Whether the folder has a module or package of that name. A folder without any file is a package too. */
export function hasModule(folder: string, module: string): boolean {
  const [first = ''] = module.split('.');
  return ['', '.py', '.pyc'].some((ending) => existsSync(join(folder, `${first}${ending}`)));
}
