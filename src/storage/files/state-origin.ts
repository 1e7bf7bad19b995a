import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { createId, type GuardedFolder, type RandomBytes } from '../../base/index.ts';
import { unfinishedSuffix } from './state-place.ts';

/**
 * A repository, an archive or an image may carry a state folder with tokens that somebody else knows. So the folder
 * holds a file with its own inode and time of birth: a copy gets others from the file system, and nobody chooses them.
 * A folder that is moved on its file system keeps both, through restarts of the machine too; device numbers do not.
 */
export const originName = 'origin.json';

/** Whether this folder was made here, as opposed to copied or unpacked. */
export function isMadeHere(folder: GuardedFolder): boolean {
  const found = readOrigin(folder);
  if (found === undefined) return false;
  const { inode, born } = identityOf(folder);
  return found.inode === inode && (found.born === born || born === null);
}

/** Says that this folder was made here, by whoever calls. */
export function markMadeHere(folder: GuardedFolder, random: RandomBytes): void {
  const draft = `${originName}.${createId(random, 12)}${unfinishedSuffix}`;
  const fd = folder.open(draft, 'create');
  try {
    writeFileSync(fd, `${JSON.stringify({ version: 1, ...identityOf(folder) })}\n`);
  } finally {
    closeSync(fd);
  }
  // In one step: who looks meanwhile must not think that the folder came from elsewhere.
  folder.rename(draft, originName);
}

const originSchema = z.object({
  version: z.literal(1),
  inode: z.string(),
  born: z.string().nullable().describe('Nanoseconds since the epoch; null where the file system does not keep it'),
});

type Identity = Omit<z.infer<typeof originSchema>, 'version'>;

function readOrigin(folder: GuardedFolder): Identity | undefined {
  let fd: number;
  try {
    fd = folder.open(originName, 'read');
  } catch {
    return undefined;
  }
  try {
    const parsed = originSchema.safeParse(JSON.parse(readFileSync(fd, 'utf8').slice(0, maxCharacters)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

const maxCharacters = 1000;

/** Some systems do not tell the time of birth and give zero, or the last change, which moves. */
function identityOf(folder: GuardedFolder): Identity {
  const { inode, born } = folder.fstatExact();
  return { inode: String(inode), born: born === 0n || movesWithChanges(folder) ? null : String(born) };
}

/** Some tens of milliseconds. */
const mostLooks = 20_000;

function movesWithChanges(folder: GuardedFolder): boolean {
  const before = folder.fstatExact();
  if (before.born !== before.changed) return false;
  // Fresh, or never told: a change shows which. The clock of file times moves every few milliseconds.
  for (let looks = 0; looks < mostLooks; looks++) {
    folder.chmod(folder.fstat().mode & 0o777);
    const { born, changed } = folder.fstatExact();
    if (changed !== before.changed) return born === changed;
  }
  return true;
}
