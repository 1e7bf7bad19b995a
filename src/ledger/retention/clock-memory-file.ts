import { closeSync, fsyncSync, readFileSync, writeSync } from 'node:fs';
import { errnoOf, type GuardedFolder, type GuardedPlace, isJsonObject, openGuardedFolder } from '../../base/index.ts';
import { type ClockMemory, isClockMemory } from './believed-time.ts';

const file = 'retention-clock.json';
const draft = `${file}.new`;

/** Undefined if there is none, or if it is damaged: then nothing is old for a day. */
export function readClockMemory(journal: GuardedPlace): ClockMemory | undefined {
  return inStateFolder(journal, (folder) => {
    try {
      const fd = folder.open(file, 'read');
      try {
        const value: unknown = JSON.parse(readFileSync(fd, 'utf8'));
        // Every member was checked.
        return isJsonObject(value) && isClockMemory(value) ? (value as unknown as ClockMemory) : undefined;
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

export function writeClockMemory(journal: GuardedPlace, { last, since, before }: ClockMemory): void {
  inStateFolder(journal, (folder) => {
    folder.removeIfThere(draft);
    const fd = folder.open(draft, 'create');
    try {
      writeSync(fd, JSON.stringify({ last, since, before }));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    folder.rename(draft, file);
  });
}

/** Beside the journal, which has only its own files. */
function inStateFolder<T>({ root, names }: GuardedPlace, work: (folder: GuardedFolder) => T): T | undefined {
  const folder = openGuardedFolder(root, names.slice(0, -1));
  if (folder === undefined) return undefined;
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}
