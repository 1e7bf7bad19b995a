import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { openCallStage } from '../call-stage.fixture.ts';
import { catalogOf, catalogWith, scriptedResult } from '../scripted-server.fixture.ts';

const ttlMs = 60_000;
const uri = 'memo://1';

const calls = fc.record({
  does: fc.constant('call' as const),
  what: fc.constantFrom('files_read', 'files_look', uri),
  args: fc.constantFrom('{}', '{"a":1}', '{"a":1.0}'),
  agent: fc.constantFrom('dev', 'other'),
  answer: fc.constantFrom('good', 'good', 'bad', 'long'),
});
const events = fc.constantFrom(
  { does: 'write' } as const,
  { does: 'wait', ms: 25_000 } as const,
  { does: 'update' } as const,
  { does: 'change' } as const,
);

/** What the server last said to a call, and until when that may be said again. */
interface Said {
  readonly text: string;
  readonly until: number;
}

test(
  verifies(
    'cache:same-call',
    'whatever happens, the answer is what the server just said, or what it last said to that call',
  ),
  async () => {
    const clock = createMovingClock();
    const cache = { ttlMs, maxBytes: 6_000, tools: undefined, resources: true };
    const files = { access: { trustAnnotations: true }, cache };
    const stage = await openCallStage({}, {}, undefined, { clock, files });
    stage.files.catalog = { ...catalogWith({ resources: [uri] }), tools: catalogOf(tools).tools };
    stage.views.renew(stage.source);
    let count = 0;
    let hits = 0;

    const run = fc.asyncProperty(
      fc.array(fc.oneof({ weight: 4, arbitrary: calls }, events), { maxLength: 30, size: 'max' }),
      async (steps) => {
        stage.source.caches.stale('files');
        const said = new Map<string, Said>();
        for (const step of steps) {
          if (step.does === 'wait') clock.advance(step.ms);
          if (step.does === 'change') stage.source.caches.stale('files');
          if (step.does === 'update') stage.source.caches.stale('files', uri);
          if (step.does === 'write') {
            stage.files.replies = [() => scriptedResult('{}')];
            await stage.run(stage.call('files_write'));
          }
          if (step.does === 'change' || step.does === 'write') said.clear();
          if (step.does === 'update') said.delete(uri);
          if (step.does !== 'call') continue;

          const text = answerText(step.answer, ++count);
          stage.files.replies = [() => scriptedResult(text)];
          const key = step.what === uri ? uri : `${step.what} ${step.args}`;
          const before = stage.files.sent.length;
          const now = clock.monotonic();
          const result = await stage.run(
            stage.call(step.what, {
              kind: step.what === uri ? 'resource' : 'tool',
              argumentsText: step.args,
              args: JSON.parse(step.args),
              caller: {
                agent: step.agent,
                project: 'workspace',
                chain: [step.agent],
                tokenId: undefined,
                run: 'run-1',
              },
            }),
          );
          const given = result.kind === 'result' ? result.result.text : '';
          if (stage.files.sent.length > before) {
            expect(given).toBe(text);
            if (step.answer === 'good') said.set(key, { text, until: clock.monotonic() + ttlMs });
            else said.delete(key);
          } else {
            hits++;
            expect(given).toBe(said.get(key)?.text);
            expect(said.get(key)?.until).toBeGreaterThan(now);
          }
        }
      },
    );
    await fc.assert(run, { numRuns: 60 });
    // Without these the property would hold of a cache that keeps nothing.
    expect(hits).toBeGreaterThan(0);
    const lines = await stage.lines();
    expect(lines.filter(({ cached }) => cached === true)).toHaveLength(hits);
    expect(lines.filter(({ transport }) => transport !== null)).toHaveLength(stage.files.sent.length);
  },
);

test(
  verifies('cost:linear', 'so many changes that searching for them would take too long empty the cache'),
  async () => {
    const clock = createMovingClock();
    clock.hold();
    const cache = { ttlMs, maxBytes: 1_000_000, tools: undefined, resources: true };
    const stage = await openCallStage({}, {}, undefined, {
      clock,
      files: { access: { trustAnnotations: true }, cache },
    });
    stage.files.catalog = { ...catalogWith({ resources: [uri] }), tools: catalogOf(tools).tools };
    stage.views.renew(stage.source);
    stage.files.replies = [() => scriptedResult('{}')];
    const read = async (): Promise<number> => {
      for (let call = 0; call < 100; call++)
        await stage.run(stage.call('files_read', { argumentsText: `{"n":${call}}` }));
      return stage.files.sent.length;
    };
    expect(await read()).toBe(100);
    for (let change = 0; change < 900; change++) stage.source.caches.stale('files', `memo://${change}`);
    expect(await read()).toBe(100);
    clock.advance(1000);
    for (let change = 0; change < 900; change++) stage.source.caches.stale('files', `memo://${change}`);
    expect(await read()).toBe(100);
    for (let change = 0; change < 200; change++) stage.source.caches.stale('files', `memo://${change}`);
    expect(await read()).toBe(200);
  },
);

const only = { annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } };
const tools = [
  { name: 'read', ...only },
  { name: 'look', ...only },
  { name: 'write', inputSchema: { type: 'object' } },
];

/** A long one does not fit. */
function answerText(answer: 'good' | 'bad' | 'long', count: number): string {
  if (answer === 'bad') return `{"isError":true,"n":${count}}`;
  return `{ "n":${count}, "é":"${'x'.repeat(answer === 'long' ? 2_000 : 700)}"}`;
}
