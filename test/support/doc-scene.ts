import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { loadConfiguration } from '../../src/config/index.ts';
import type { DocBlock, DocScene } from './doc-blocks.ts';
import { commandsIn } from './doc-commands.ts';
import { type DocShell, openShell } from './doc-shell.ts';
import { type DocWorkspace, openWorkspace } from './doc-workspaces.ts';

const root = resolve(import.meta.dirname, '..', '..');

/** Writes the files of a scene and runs its commands and programs, in the order of the page. */
export async function playScene(scene: DocScene): Promise<void> {
  const workspace = await openWorkspace(scene.workspace);
  const shell = openShell(workspace);
  // On the page, files come before the commands that use them, so a hub finds them.
  let before = workspace.before;
  for (const block of scene.blocks) {
    try {
      if (block.kind === 'file') await writeAndLoad(workspace, block);
      if (block.kind !== 'run') continue;
      for (const command of before) await shell.run(command);
      before = [];
      await run(workspace, shell, block);
    } catch (error) {
      throw new Error(`${block.page}:${block.line}: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function writeAndLoad(workspace: DocWorkspace, { about, text }: DocBlock): Promise<void> {
  const path = join(workspace.folder, about);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  const { problems } = await loadConfiguration({ env: variablesIn(text) }, { workspace: workspace.folder });
  const told = problems.map(({ file, line, message }) => `${file}:${line} ${message}`);
  // A guide that adds both says so itself.
  expect(told.filter((text) => !text.endsWith('can read .env in the workspace.'))).toEqual([]);
}

/** A value for each variable in a file. */
function variablesIn(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  return Object.fromEntries(
    names.map((name) => [name, name.endsWith('URL') ? 'https://x.example/mcp' : `the-${name}`]),
  );
}

async function run(workspace: DocWorkspace, shell: DocShell, block: DocBlock): Promise<void> {
  if (block.language === 'ts' || block.language === 'js') return runProgram(workspace, shell, block);
  const order = block.about === 'in any order' ? block.about : undefined;
  for (const { command, shown } of commandsIn(block.text)) await shell.run(command, shown, order);
}

/** Runs the program as part of a project that uses the library: first checks its types, then runs it. */
async function runProgram({ base, folder }: DocWorkspace, shell: DocShell, block: DocBlock): Promise<void> {
  const typed = join(base, `example-${block.line}.mts`);
  await writeFile(typed, block.text);
  const library = join(root, 'dist', 'library', 'index.d.ts');
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { types: ['node'], paths: { quartermaster: [library] } },
    files: [typed],
    include: [],
  };
  await writeFile(join(base, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  await promisify(execFile)(tsc, ['-p', join(base, 'tsconfig.json')]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
  const main = join(folder, `example-${block.line}.mjs`);
  await writeFile(main, block.text.replaceAll(`'quartermaster'`, `'${join(root, 'dist', 'library', 'index.js')}'`));
  await shell.run(`'${process.execPath}' '${main}'`);
}
