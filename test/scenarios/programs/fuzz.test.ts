import type { Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { serveStdio } from '../../../src/faces/mcp-stdio/index.ts';
import { createDice } from '../../fuzz/dice.ts';
import { fuzzedMessage } from '../../fuzz/messages.ts';
import { type FuzzCase, fuzzedCase } from '../../fuzz/requests.ts';
import { gatewayForTest } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, modernClient, namesOf, textOf } from '../../support/mcp-clients.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { connectTo, statusesOf } from '../../support/raw-socket.ts';
import { sseClient } from '../../support/sse-client.ts';
import { eventually, within } from '../../support/within.ts';

/** How many; the everyday number is small, `FUZZ=10000` makes the full round. A failure names what to repeat. */
const rounds = Number(process.env.FUZZ ?? 1500);
const seed = Number(process.env.FUZZ_SEED ?? 20_261_116);
const atOnce = 24;
const sessionVersions = ['2025-03-26', '2025-06-18', '2025-11-25'];
const hungMs = 15_000;
const idleMs = 600_000;

test(`${rounds} malformed requests do no harm`, { timeout: 60_000 + rounds * 60 }, async () => {
  const clock = createMovingClock();
  const hub = await gatewayForTest(
    { serve: { maxBodyBytes: 20_000, maxClientSessions: 40, clientSessionIdle_s: idleMs / 1000 } },
    { clock, timeouts: { headers: 600, request: 1200, keepAlive: 2000 } },
  );
  const token = await hub.token();
  let session = '';
  const sockets = openSockets();
  const heapBefore = collectedHeap();
  const tally = new Map<number, number>();
  const bad: string[] = [];

  async function play(index: number): Promise<void> {
    // Some cases end the session; the others must not all meet a dead one.
    if (index % 20 === 0) session = (await legacyClient(hub.url, token, sessionVersions[index % 3])).sessionId;
    const fuzzed = fuzzedCase(createDice(seed + index), { token, session });
    const { text, hung } = await perform(hub.origin, fuzzed);
    const statuses = statusesOf(text);
    for (const status of statuses) tally.set(status, (tally.get(status) ?? 0) + 1);
    const fault = hung ? 'hung' : statuses.find((status) => status >= 500);
    if (fault !== undefined) {
      const said = Buffer.concat(fuzzed.pieces).toString('latin1').slice(0, 3000);
      bad.push(
        `FUZZ_SEED=${seed + index} FUZZ=1 ${fault}, ${fuzzed.leave}: ${JSON.stringify(said)} → ${text.slice(0, 500)}`,
      );
    }
  }

  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < rounds) await play(next++);
    }),
  );
  expect(bad.slice(0, 5)).toEqual([]);
  expect(hub.log.filter(({ event }) => event.endsWith('_failed'))).toEqual([]);
  await eventually(() => hub.hub.callsInFlight === 0 || undefined, 'every call to end');
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();

  const legacy = await legacyClient(hub.url, token);
  expect(textOf((await legacy.call('echo_add', { a: 20, b: 22 })).message)).toBe('42');
  expect(namesOf((await modernClient(hub.url, token).request('tools/list')).message)).toContain('echo_add');
  expect(hub.gateway.clientSessions).toBeLessThanOrEqual(40);
  clock.advance(idleMs * 2);
  await eventually(() => hub.gateway.clientSessions === 0 || undefined, 'the sessions to expire');
  await eventually(() => openSockets() <= sockets || undefined, 'the sockets to close');
  const grown = collectedHeap() - heapBefore;
  console.log(`${rounds} requests, seed ${seed}: ${describeTally(tally)}; heap ${Math.round(grown / 1024)} kB more`);
  expect(grown).toBeLessThan(30 * 1024 * 1024);
});

test('malformed lines do no harm to the stdio face', { timeout: 60_000 + rounds * 5 }, async () => {
  const hub = await gatewayForTest({ serve: { maxBodyBytes: 20_000 } });
  const input = new PassThrough();
  const lines: string[] = [];
  let rest = '';
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      const parts = (rest + chunk.toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
      done();
    },
  });
  const caller = hub.hub.callerFor({ agent: 'tester' });
  const deps = { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom, input, output };
  const face = serveStdio({ hub: hub.hub, caller, ...deps });
  const dice = createDice(seed);
  for (let round = 0; round < rounds; round++) {
    input.write(Buffer.concat([fuzzedMessage(dice).bytes, Buffer.from('\n')]));
    // What is asked is answered in between, as it would be over a pipe.
    if (round % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  input.write('{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n');
  input.write('{"jsonrpc":"2.0","id":"last","method":"ping"}\n');
  await eventually(() => lines.includes('{"jsonrpc":"2.0","id":"last","result":{}}') || undefined, 'the last answer');
  input.end();
  await within(face.ended, 'the end');
  for (const line of lines) expect(() => JSON.parse(line), line.slice(0, 200)).not.toThrow();
  await eventually(() => hub.hub.callsInFlight === 0 || undefined, 'every call to end');
});

test('malformed messages do no harm to a stream of the older transport', {
  timeout: 60_000 + rounds * 20,
}, async () => {
  const hub = await gatewayForTest({ serve: { maxBodyBytes: 20_000 } });
  const client = await sseClient(hub.origin, await hub.token());
  const dice = createDice(seed);
  const statuses = new Set<number>();
  for (let round = 0; round < rounds; round += atOnce) {
    const posted = Array.from({ length: atOnce }, () => client.post(fuzzedMessage(dice).bytes));
    for (const { status } of await Promise.all(posted)) statuses.add(status);
  }
  expect([...statuses].filter((status) => ![202, 400, 413].includes(status))).toEqual([]);
  await client.post(initializeRequest());
  await client.answer('init');
  expect((await client.request('ping', {}, 'last')).result).toEqual({});
  expect(hub.log.filter(({ event }) => event.endsWith('_failed'))).toEqual([]);
  await eventually(() => hub.hub.callsInFlight === 0 || undefined, 'every call to end');
});

interface Played {
  readonly text: string;
  readonly hung: boolean;
}

/** How long the other side may be silent after an answer before the connection is left. */
const quietMs = 40;

function perform(origin: string, { pieces, leave }: FuzzCase): Promise<Played> {
  const socket = connectTo(origin);
  return new Promise((resolve) => {
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    const deadline = setTimeout(() => finish(true), hungMs);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      clearTimeout(quiet);
      quiet = setTimeout(() => finish(false), quietMs);
    });
    socket.on('error', () => {});
    socket.once('close', () => finish(false));
    void speak(socket, pieces).then(() => {
      if (leave === 'destroy') finish(false);
      else if (leave === 'end') socket.end();
    });
    function finish(hung: boolean): void {
      clearTimeout(deadline);
      clearTimeout(quiet);
      socket.destroy();
      resolve({ text, hung });
    }
  });
}

async function speak(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    if (!socket.writable) return;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  }
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

function collectedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // there since the flag is set
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().heapUsed;
}

function describeTally(tally: ReadonlyMap<number, number>): string {
  return [...tally]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}×${count}`)
    .join(' ');
}
