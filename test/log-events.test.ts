import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');

/** Where an event is logged: `logger.warn('…'`, `logger[level]('…'`, `contain(logger, '…'`; one of two may be chosen. */
const logged =
  /(?:logger(?:\.(?:debug|info|warn|error)|\[\w+\])\(|contain\([\w.#]*logger, )\s*(?:[\w.#]+ \? '([^']*)' : )?(?:'([^']*)'|([^\s)]))/g;
const spelling = /^([a-z]+)\.[a-z]+(?:-[a-z]+)*$/;
const past = /(?:ed|lost|left|left-out|found|gone|caught-up)(?:-to-[a-z]+)?$/;
/** Events of the API are logged under the name that `docs/api.md` gives them. */
const apiEvents = new Set(
  [...readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(/^\| `([a-z]+\.[a-z-]+)` \|/gm)].map(
    ([, name = '']) => name,
  ),
);

function isSpelled(event: string): boolean {
  return spelling.test(event) && (past.test(event) || apiEvents.has(event));
}

/** Nouns that stand there in two forms, such as `child` and `children`. */
function nounsInTwoForms(events: readonly string[]): string[][] {
  const forms = new Map<string, Set<string>>();
  for (const event of events) {
    const noun = event.split('.')[0] ?? '';
    const stem = noun.replace(/(?:ren|ing|e|s)$/, '');
    forms.set(stem, (forms.get(stem) ?? new Set()).add(noun));
  }
  return [...forms.values()].filter(({ size }) => size > 1).map((each) => [...each].sort());
}

function eventsIn(text: string): string[] {
  return [...text.matchAll(logged)].flatMap(([, first, event, other]) => [
    ...(first === undefined ? [] : [first]),
    event ?? `not a text: ${other}`,
  ]);
}

test('log events are spelled noun.verb-in-past throughout src', () => {
  const files = listFiles(root, ['src'], /(?<!\.test|\.fixture)\.ts$/).filter((path) => path !== 'src/base/defects.ts');
  const events = files.flatMap((path) =>
    eventsIn(readFileSync(join(root, path), 'utf8')).map((event) => ({ path, event })),
  );
  expect(events.length).toBeGreaterThan(80);
  expect(events.filter(({ event }) => !isSpelled(event))).toEqual([]);
  expect(nounsInTwoForms(events.map(({ event }) => event))).toEqual([]);
});

test('a misspelled event is found however it is logged', () => {
  const text =
    "logger.warn('a_b'); logger[level]('c'); this.#deps.logger.error(\n  'd.E'); contain(deps.logger, 'f_g', {}";
  expect(eventsIn(text)).toEqual(['a_b', 'c', 'd.E', 'f_g']);
  expect(eventsIn("logger.error(this.#isGone ? 'h_i' : 'j_k')")).toEqual(['h_i', 'j_k']);
  expect(eventsIn(text).filter(isSpelled)).toEqual([]);
});

test('a state is no verb in the past, and a noun has one form', () => {
  expect(['config.waiting', 'child.unkillable', 'ledger.corrupt-records', 'config.applied'].filter(isSpelled)).toEqual([
    'config.applied',
  ]);
  expect(nounsInTwoForms(['child.lost', 'children.left', 'serve.failed', 'serving.failed', 'hub.lost'])).toEqual([
    ['child', 'children'],
    ['serve', 'serving'],
  ]);
});
