import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { HubError } from '../../../base/index.ts';
import { type ActLog, actOnRecord } from './act-on-record.ts';
import type { OperatorAct } from './operator-act.ts';

const grant: OperatorAct = { what: 'token.issued', subject: 'a1' };
const narrow: OperatorAct = { what: 'token.revoked', subject: 'a1' };

/** Keeps what happens in order. */
function logOf(isFull: boolean): ActLog<OperatorAct> & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    async write(acts, failed) {
      if (isFull) throw new HubError('LEDGER_UNAVAILABLE', 'The disk is full.', { hint: 'Make room.' });
      for (const { what } of acts) seen.push(failed ? `${what} failed` : what);
    },
    warn: (text) => void seen.push(text),
  };
}

const work = (log: { readonly seen: string[] }) => async (): Promise<void> => void log.seen.push('done');

test(verifies('ledger:acts', 'the record comes before the act'), async () => {
  const log = logOf(false);
  await actOnRecord(log, [grant], work(log));
  expect(log.seen).toEqual(['token.issued', 'done']);
});

test(verifies('ledger:acts', 'an act that fails after its record gets a second record'), async () => {
  const log = logOf(false);
  const failing = actOnRecord(log, [grant], () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(log.seen).toEqual(['token.issued', 'token.issued failed']);
});

test(verifies('ledger:acts', 'an act that gives rights does not happen without its record'), async () => {
  const log = logOf(true);
  await expect(actOnRecord(log, [narrow, grant], work(log))).rejects.toMatchObject({
    code: 'LEDGER_UNAVAILABLE',
    message: 'The disk is full. Nothing was changed, because "token.revoked a1" and 1 more cannot be recorded.',
    hint: 'Make room.',
  });
  expect(log.seen).toEqual([]);
});

test(verifies('ledger:acts', 'an act that only takes rights away happens, with a warning'), async () => {
  const log = logOf(true);
  await actOnRecord(log, [narrow], work(log));
  expect(log.seen).toEqual(['The audit log lacks this act, "token.revoked a1". The disk is full.', 'done']);
});
