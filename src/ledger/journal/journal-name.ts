import type { ProcessLife } from '../../base/index.ts';

/**
 * `<time>-<boot>.jsonl` is the first file of a process life, `<time>-<boot>.2.jsonl` the next after a rotation.
 * The suffix shows the current owner: none for the process in the file's header, `.left` for nobody, and `.claimed-…`
 * for the process it names. A file that ends in `.sealed` is complete: nothing is added to it, and retention removes it.
 */
export interface JournalName {
  readonly file: string;
  /** The name without the ownership suffix. */
  readonly original: string;
  readonly boot: string;
  readonly number: number;
  readonly holder: 'writer' | 'nobody' | 'sealed' | ProcessLife;
}

export function journalName(at: string, boot: string, number: number): string {
  const time = at.replace(/[-:]|\.\d+/g, '');
  return number === 1 ? `${time}-${boot}.jsonl` : `${time}-${boot}.${number}.jsonl`;
}

export function leftName(original: string): string {
  return `${original}.left`;
}

export function sealedName(original: string): string {
  return `${original}.sealed`;
}

export function claimedName(original: string, boot: string, owner: ProcessLife): string {
  return `${original}.claimed-${boot}-${owner.pid}-${owner.start ?? 'x'}`;
}

export function parseJournalName(file: string): JournalName | undefined {
  const match = pattern.exec(file);
  if (match === null) return undefined;
  const [, original = '', boot = '', number = '1', suffix, pid, start] = match;
  const claimer =
    pid === undefined ? undefined : { pid: Number(pid), start: start === 'x' ? undefined : Number(start) };
  const holder = suffix === '.left' ? 'nobody' : suffix === '.sealed' ? 'sealed' : (claimer ?? 'writer');
  return { file, original, boot, number: Number(number), holder };
}

const pattern =
  /^(\d{8}T\d{6}Z-([a-z0-9]+)(?:\.(\d+))?\.jsonl)(?:(\.left|\.sealed)|\.claimed-[a-z0-9]+-(\d+)-(\d+|x))?$/;
