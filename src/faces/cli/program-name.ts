import { basename, delimiter, dirname, relative } from 'node:path';

/** How to call this program again from here: its name, or its path if the shell would not find it. */
export function programName(script: string | undefined, cwd: string, searchPath: string | undefined): string {
  if (script === undefined) return 'qm';
  const found = (searchPath ?? '').split(delimiter).includes(dirname(script));
  if (found) return basename(script);
  const path = relative(cwd, script);
  if (path.startsWith('..')) return script;
  return path.includes('/') ? path : `./${path}`;
}
