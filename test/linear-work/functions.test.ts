import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { countedFunctions } from './counted-functions.ts';
import { createWorkCounter, type WorkCounter } from './counted-work.ts';
import { cuttingFunctions } from './redaction-functions.ts';
import { TooMuchWork } from './regexp-steps.ts';

const few = 400;
/** More than the redactor reads of a text that it cuts to 100 characters, each written as an escape. */
const behindCut = 26_000;

let counter: WorkCounter;

beforeAll(async () => {
  counter = await createWorkCounter();
});

afterAll(() => counter.close());

describe(verifies('cost:linear', 'work grows with the length of a text and no faster'), () => {
  test.each(countedFunctions)(
    '$name',
    async ({ load, texts }) => {
      const work = await load();
      // What is made once, at first use, is not the cost of a text.
      for (const text of texts) work(text(few));
      const slow: string[] = [];
      for (const text of texts) {
        const once = await counter.count(() => work(text(few)), Number.POSITIVE_INFINITY);
        // Eight times the text: the square would be sixty-four times the work.
        const growth = await growthOf(() => work(text(8 * few)), once);
        if (growth > 16)
          slow.push(`${JSON.stringify(text(16))} costs ${growth} times as much when it is eight times as long`);
      }
      expect(slow).toEqual([]);
    },
    120_000,
  );
});

describe(verifies('cost:linear', 'the part of a text behind the cut costs nothing'), () => {
  test.each(cuttingFunctions)(
    '$name',
    async ({ load, texts }) => {
      const work = await load();
      for (const text of texts) work(text(few));
      const slow: string[] = [];
      for (const text of texts) {
        const [short, long] = [text(behindCut), text(8 * behindCut)];
        const once = await counter.count(() => work(short), Number.POSITIVE_INFINITY);
        const growth = await growthOf(() => work(long), once);
        if (growth > 1.1) slow.push(`${JSON.stringify(text(16))} costs ${growth} times as much`);
      }
      expect(slow).toEqual([]);
    },
    120_000,
  );
});

test('the counting sees a loop of the sources that calls nothing', async () => {
  const { hideJsonWebTokens } = await import('../../src/vault/json-web-tokens.ts');
  const work = await counter.count(() => hideJsonWebTokens(`eyJ${'a'.repeat(1000)}`, ''), Number.POSITIVE_INFINITY);
  expect(work).toBeGreaterThan(1000);
});

async function growthOf(work: () => unknown, once: number): Promise<number> {
  try {
    return (await counter.count(work, 20 * once)) / once;
  } catch (error) {
    if (error instanceof TooMuchWork) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
