import { join } from 'node:path';
import { type FolderOptions, folderCode, type StartedProgram } from './folder-code.ts';

/**
 * Files of the working folder that decide what the program runs though no argument names them, as paths. They belong to
 * the plan whether they exist or not: one that appears later changes what runs as much as one that is edited.
 */
export function runnerFiles(program: StartedProgram, options: FolderOptions): readonly string[] {
  const found = folderCode(program, options);
  return found.kind === 'runs' ? found.files.map((name) => join(program.cwd, name)) : [];
}
