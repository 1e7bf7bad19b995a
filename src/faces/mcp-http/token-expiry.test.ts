import { expect, onTestFinished, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import { TokenExpiry } from './token-expiry.ts';

const dayMs = 86_400_000;
const clock = createSystemClock();

/** Waits for a token that expires after this time. */
function expireAfter(ms: number) {
  const onExpired = vi.fn();
  const at = clock.now() + ms;
  const tokens = { nextExpiry: () => at } as TokenBook; // all that is asked for
  const expiry = new TokenExpiry({ tokens, clock }, onExpired);
  onTestFinished(() => expiry.close());
  expiry.arm();
  return onExpired;
}

test('a timer of Node fires at once if its time does not fit into 31 bits', async () => {
  const fired = vi.fn();
  const timer = clock.setTimer(30 * dayMs, fired);
  onTestFinished(() => timer.cancel());
  await vi.waitFor(() => expect(fired).toHaveBeenCalled(), { timeout: 10_000 });
});

test(verifies('token:ends', 'a token of thirty days does not expire at once'), async () => {
  const [long, short] = [expireAfter(30 * dayMs), expireAfter(50)];
  await vi.waitFor(() => expect(short).toHaveBeenCalled(), { timeout: 10_000 });
  expect(long).not.toHaveBeenCalled();
});
