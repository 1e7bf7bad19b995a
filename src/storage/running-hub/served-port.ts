import { join } from 'node:path';
import type { RandomBytes } from '../../base/index.ts';
import { type FileRules, readSmallFile } from '../files/json-document.ts';
import type { WorkspaceLayout } from '../files/layout.ts';
import { replaceFile } from '../files/write-file.ts';

const rules: FileRules = { maxBytes: 100, fix: 'Delete it; the hub then chooses a port again.' };

/** The port that the hub of this workspace chose earlier, so that the configuration of its clients stays valid. */
export async function readServedPort(layout: WorkspaceLayout): Promise<number | undefined> {
  const text = await readSmallFile(layout, pathIn(layout), rules);
  const port = /^\d{1,5}\n?$/.test(text ?? '') ? Number(text) : 0;
  return port > 0 && port <= 65_535 ? port : undefined;
}

export async function keepServedPort(layout: WorkspaceLayout, port: number, random: RandomBytes): Promise<void> {
  await replaceFile(layout, pathIn(layout), `${port}\n`, random);
}

function pathIn({ folder }: WorkspaceLayout): string {
  return join(folder, 'port');
}
