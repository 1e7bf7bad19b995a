import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { heldAfter } from '../../../test/support/held-memory.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { within } from '../../../test/support/within.ts';
import { createSilentLogger, createSystemClock, HubError } from '../../base/index.ts';
import { Deadlines } from '../connecting/deadlines.ts';
import { controlRequest } from '../transport.ts';
import { createExchange, type UpstreamExchange } from './http-exchange.ts';

const said = 'é€'.repeat(60_000);
const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { said } });

/** Brings an answer piece by piece, as undici does: each is a view of what was read from the socket. */
function answered() {
  const clock = createSystemClock();
  const exchange = createExchange({
    clock,
    logger: createSilentLogger(),
    deadlines: new Deadlines(clock),
    server: 'files',
    id: 1,
    request: controlRequest('tools/list', {}, 60_000),
    sessionId: null,
    onSession: undefined,
    onNotification: () => {},
    ways: { send: () => {}, resume: undefined },
    onRefused: () => {},
    onGiveUp: () => {},
    onEnd: () => {},
  });
  const controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: [],
    rawTrailers: [],
    abort: () => {},
    pause: () => {},
    resume: () => {},
  };
  exchange.handler.onRequestStart?.(controller, {});
  exchange.handler.onResponseStart?.(controller, 200, { 'content-type': 'application/json' });
  return {
    exchange,
    bring: (piece: Buffer): void => exchange.handler.onResponseData?.(controller, piece),
    end: (): void => exchange.handler.onResponseEnd?.(controller, {}),
  };
}

function byteByByte(bring: (piece: Buffer) => void): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) bring(bytes.subarray(at, at + 1));
}

async function replyOf(exchange: UpstreamExchange): Promise<unknown> {
  return within(exchange.reply, 'a reply');
}

test('an answer that comes byte by byte holds little more than its bytes, and is read whole', async () => {
  const { exchange, bring, end } = answered();
  expect(heldAfter(() => byteByByte(bring))).toBeLessThan(5_000_000);
  end();
  expect(await replyOf(exchange)).toMatchObject({ kind: 'result', id: 1, value: { said }, httpStatus: 200 });
});

test(
  verifies('ledger:connection', 'an exchange that fails after it began has the status of its response'),
  async () => {
    const { exchange } = answered();
    exchange.cancel(new HubError('CANCELLED', 'enough'));
    expect(await replyOf(exchange)).toMatchObject({ kind: 'failed', httpStatus: 200 });
  },
);

test('messages after the end of the call are dropped', async () => {
  const { exchange, bring } = answered();
  exchange.cancel(new HubError('UPSTREAM_TIMEOUT', 'enough'));
  expect(heldAfter(() => byteByByte(bring))).toBeLessThan(2_000_000);
  expect(await replyOf(exchange)).toMatchObject({ kind: 'failed' });
});
