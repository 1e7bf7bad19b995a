/** What `qm ledger verify` finds. Kinds that retention or a crash explains are no problems. */
export type LedgerFinding =
  /** The bytes of a write do not fit its hash, or a write was left out. */
  | { readonly kind: 'changed'; readonly file: string; readonly seq: number }
  /** A later file names a head that this file does not end with: it was cut, or something was added. */
  | { readonly kind: 'other-end'; readonly file: string; readonly seq: number; readonly foundSeq: number }
  /** A later file names this one, it is not there, and retention did not remove it. */
  | { readonly kind: 'missing'; readonly file: string; readonly seq: number }
  | { readonly kind: 'head-missing'; readonly seq: number; readonly hash: string }
  | {
      readonly kind: 'run-file';
      readonly run: string;
      /** Calls of the journal that the run file does not have. */
      readonly lacks: number;
      /** Calls that the journal does not have. */
      readonly adds: number;
    }
  | { readonly kind: 'expired'; readonly file: string; readonly seq: number; readonly why: string }
  | { readonly kind: 'head-expired'; readonly seq: number; readonly hash: string }
  /** Its process died, and the next start ended the file. */
  | {
      readonly kind: 'sealed';
      readonly file: string;
      readonly seq: number;
      readonly at: string;
      /** Complete records of the unfinished write. */
      readonly lines: number;
      /** Bytes of an incomplete record that were cut. */
      readonly cut: number;
    }
  /** Its process died, and no hub has started since. */
  | { readonly kind: 'unfinished'; readonly file: string; readonly seq: number }
  /** Written by a release without a chain. One hash covers the whole file. */
  | { readonly kind: 'unchained'; readonly file: string };

export function isProblem({ kind }: LedgerFinding): boolean {
  return problems.has(kind);
}

const problems: ReadonlySet<LedgerFinding['kind']> = new Set([
  'changed',
  'other-end',
  'missing',
  'head-missing',
  'run-file',
]);
