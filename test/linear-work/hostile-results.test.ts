import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { createWorkCounter, type WorkCounter } from './counted-work.ts';

let counter: WorkCounter;

beforeAll(async () => {
  counter = await createWorkCounter();
});

afterAll(() => counter.close());

const length = 400_000;
const fill = (part: string): string => part.repeat(Math.ceil(length / part.length));
const answer = (result: string): string => `{"jsonrpc":"2.0","id":1,"result":${result}}`;

/** Texts of which each part is as small as it can be. */
const results: Readonly<Record<string, string>> = {
  'many members': `{"content":[],${fill('"":0,')}"":0}`,
  'many members of _meta': `{"content":[],"_meta":{${fill('"":0,')}"uri":"ui://a"}}`,
  'many blocks': `{"content":[${fill('{},')}{}]}`,
  'an error with many blocks': `{"isError":true,"content":[{"type":"text","text":"no"},${fill('[],')}1]}`,
  'an error with a strange block': `{"isError":true,"content":[{"x":[${fill('[],')}1],"text":"no"}]}`,
  'many references': `{"content":[${fill('{"uri":"ui:"},')}1]}`,
  'a strange isError': `{"isError":[${fill('[],')}1],"content":[]}`,
  'many parts': `{"contents":[${fill('{},')}1]}`,
  'one part with many members': `{"contents":[{${fill('"":0,')}"uri":"m://a"}]}`,
};

describe(verifies('cost:linear', 'a large result costs little for each of its characters'), () => {
  test.each(Object.entries(results))('%s', async (_, result) => {
    const { firstTextOf, readUpstreamMessage, renameContents, rewriteResultUris, toLegacyResult, withResultMembers } =
      await import('../../src/mcp/index.ts');
    const read = (): void => {
      const message = readUpstreamMessage(answer(result));
      if (message.kind !== 'result') return;
      const { isError, resultType } = message.value;
      if (isError === true && resultType === undefined) firstTextOf(message.value);
      toLegacyResult(withResultMembers(message, { ttlMs: 1 }));
      for (const change of [rewriteResultUris, renameContents]) {
        try {
          change(message, (uri) => uri);
        } catch {
          // It has too many parts or references.
        }
      }
    };
    const objects = await countObjects(read);
    expect(objects.work / result.length).toBeLessThan(60);
    // Values that JSON.parse creates and properties that are defined cost most, so they are few.
    expect(objects.parsed).toBeLessThan(length / 3);
    expect(objects.defined).toBeLessThan(3000);
  });

  test('an answer that nobody waits for is only searched for its id', async () => {
    const { readUpstreamMessage } = await import('../../src/mcp/index.ts');
    const text = answer(results['many blocks'] ?? '');
    const work = await countObjects(() => readUpstreamMessage(text, () => undefined));
    expect(work.work / text.length).toBeLessThan(8);
    expect(work.parsed).toBeLessThan(10);
  });
});

test(verifies('cost:linear', 'an acknowledgement is compared once with what was subscribed'), async () => {
  const { startListening } = await import('../../src/upstream/subscriptions/listen.ts');
  const { createManualClock } = await import('../../src/base/manual-clock.fixture.ts');
  const { createScriptedTransport } = await import('../../src/upstream/scripted-transport.fixture.ts');
  const transport = createScriptedTransport('stdio');
  const announces = { tools: false, resources: true, prompts: false };
  const listening = startListening({ clock: createManualClock(), transport, onGap() {} }, announces);
  listening.acknowledged({});
  for (let index = 0; index < 200; index++) void listening.subscribe(`mem://${index}`).reply;
  listening.acknowledged({});
  const said = Array.from({ length: 20_000 }, () => 'm');
  const acknowledge = (): void => listening.acknowledged({ notifications: { resourceSubscriptions: said } });
  expect(await counter.count(acknowledge, Number.POSITIVE_INFINITY)).toBeLessThan(4 * said.length);
  listening.stop();
});

test(verifies('cost:linear', 'a canonical form copies the text once, however deep it is'), async () => {
  const { canonicalJson, canonicalText } = await import('../../src/mcp/index.ts');
  const text = `${'{"a":[0,'.repeat(60)}${JSON.stringify('x'.repeat(10_000))}${']}'.repeat(60)}`;
  const value: unknown = JSON.parse(text);
  const { join } = Array.prototype;
  let joined = 0;
  Array.prototype.join = function (separator) {
    const whole = join.call(this, separator);
    joined += whole.length;
    return whole;
  };
  try {
    expect(canonicalJson(value)).toBe(text);
    expect(canonicalText(text)).toBe(text);
  } finally {
    Array.prototype.join = join;
  }
  expect(joined).toBeLessThan(3 * text.length);
});

interface Counts {
  readonly work: number;
  readonly parsed: number;
  readonly defined: number;
}

/** All work, the characters that JSON.parse reads, and the properties that are defined one by one. */
async function countObjects(work: () => unknown): Promise<Counts> {
  let parsed = 0;
  let defined = 0;
  const { parse } = JSON;
  const { defineProperty } = Object;
  const counted = (): void => {
    JSON.parse = (source: string) => {
      parsed += source.length;
      return parse(source);
    };
    Object.defineProperty = (target, key, descriptor) => {
      defined++;
      return defineProperty(target, key, descriptor);
    };
    try {
      work();
    } finally {
      JSON.parse = parse;
      Object.defineProperty = defineProperty;
    }
  };
  const total = await counter.count(counted, Number.POSITIVE_INFINITY);
  return { work: total, parsed, defined };
}
