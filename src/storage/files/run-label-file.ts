import { closeSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { errnoOf, type Logger } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import type { WorkspaceLayout } from './layout.ts';
import { expectFolderOf } from './state-place.ts';

const name = 'run-labels.jsonl';

const lineSchema = z.strictObject({ run: z.string(), labels: z.array(z.string()) });

/** The labels of runs, one line for each that came. Short, because a run gets a label once. */
export function openRunLabelFile(layout: WorkspaceLayout, { logger }: { readonly logger: Logger }) {
  return {
    stored: readAll(layout, logger),
    add(run: string, labels: readonly string[]): void {
      try {
        const folder = expectFolderOf(layout, layout.runLabels);
        try {
          const fd = folder.open(name, 'append');
          try {
            writeSync(fd, `${JSON.stringify({ run, labels })}\n`);
          } finally {
            closeSync(fd);
          }
        } finally {
          folder.close();
        }
      } catch (error) {
        throw fileError(error, 'write', layout.runLabels);
      }
    },
  };
}

/** Undefined if a line cannot be read, because it may have held a label. A torn last line was never acknowledged. */
function readAll(layout: WorkspaceLayout, logger: Logger): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  const runs = new Map<string, Set<string>>();
  try {
    const lines = readText(layout).split('\n');
    for (const line of lines.slice(0, -1)) {
      const { run, labels } = lineSchema.parse(JSON.parse(line));
      runs.set(run, new Set([...(runs.get(run) ?? []), ...labels]));
    }
    return runs;
  } catch (error) {
    logger.error('labels.lost', { file: layout.runLabels, error: String(error) });
    return undefined;
  }
}

function readText(layout: WorkspaceLayout): string {
  try {
    const folder = expectFolderOf(layout, layout.runLabels);
    try {
      const fd = folder.open(name, 'read');
      try {
        return readFileSync(fd, 'utf8');
      } finally {
        closeSync(fd);
      }
    } finally {
      folder.close();
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw error;
  }
}
