import { HubError } from '../../base/index.ts';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { readLockfile } from '../readers/lock-file.ts';
import { type Lockfile, lockfileName } from './lockfile.ts';

/** Throws CONFIG_INVALID if the text is not a lockfile. */
export function parseLockfile(text: string): Lockfile {
  const parsed = parseJsonc(text);
  if (parsed.kind === 'broken') throw invalid(`line ${parsed.line}: ${parsed.message}`);
  const read = readLockfile(parsed.root, lockfileName);
  if (read.kind === 'mistake') throw invalid(read.finding.message);
  return read.lockfile;
}

function invalid(why: string): HubError {
  return new HubError('CONFIG_INVALID', `${lockfileName} cannot be read: ${why}`, {
    hint: 'Take it from version control again, or write it anew with `qm lock --fresh`.',
  });
}
