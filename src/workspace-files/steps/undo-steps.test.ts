import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTree } from '../text/open-tree.ts';
import { type Dialect, nodeAt, plainOf } from '../text/text-tree.ts';
import type { FileStep, TakenSteps } from './file-step.ts';
import { takeSteps } from './take-steps.ts';
import { undoSteps } from './undo-steps.ts';
import { jsoncDocuments, tomlDocuments, type WrittenDocument } from './written-documents.fixture.ts';

const entry = { command: '/usr/bin/node', args: ['/opt/qm', 'stdio', '--workspace', '/home/me/a "b"'] };

function taken(text: string, dialect: Dialect, steps: readonly FileStep[]): TakenSteps {
  const outcome = takeSteps(text, dialect, steps);
  if (outcome.kind === 'refused') throw new Error(`${outcome.step.kind} ${outcome.step.path.join('.')} was refused`);
  return outcome;
}

function undone(steps: TakenSteps, current: string, dialect: Dialect): string {
  const outcome = undoSteps(steps, current, dialect);
  if (outcome.kind === 'refused') throw new Error(`${outcome.path.join('.')} cannot be undone`);
  expect(outcome.changed).toEqual([]);
  return outcome.text;
}

function contentOf(text: string, dialect: Dialect): unknown {
  const opened = openTree(text, dialect);
  if (opened.kind === 'broken') throw new Error(`${opened.message} in line ${opened.line} of ${text}`);
  return plainOf(opened.tree.root);
}

/** Switches an entry off, takes another one out and puts one in: all that a connection does to a file. */
function jsonSteps({ text, maps }: WrittenDocument, choice: number): FileStep[] {
  const opened = openTree(text, 'jsonc');
  const root = opened.kind === 'tree' ? opened.tree.root : undefined;
  const at = maps[choice % Math.max(1, maps.length)] ?? [];
  const map = nodeAt(root, at);
  const members = map?.kind === 'map' ? map.members.filter(({ key }) => !key.startsWith('mark-')) : [];
  const member = members[choice % Math.max(1, members.length)];
  return [
    { kind: 'put', path: [...at, 'hub'], value: entry },
    ...(member === undefined ? [] : [{ kind: 'remove', path: [...at, member.key] } as const]),
    { kind: 'put', path: [...at, 'off', 'enabled'], value: false },
    { kind: 'include', path: ['off', 'names'], item: 'one' },
    { kind: 'include', path: ['off', 'names'], item: 'two' },
  ];
}

function tomlSteps({ maps }: WrittenDocument, choice: number): FileStep[] {
  const [first, second] = [maps[choice % Math.max(1, maps.length)], maps[(choice + 1) % Math.max(1, maps.length)]];
  return [
    { kind: 'put', path: ['mcp_servers', 'hub'], value: { ...entry, env: { A: 'b' }, required: true } },
    ...(first === undefined ? [] : [{ kind: 'put', path: [...first, 'off'], value: false } as const]),
    ...(second === undefined || second === first ? [] : [{ kind: 'remove', path: second } as const]),
  ];
}

const cases: readonly [Dialect, fc.Arbitrary<WrittenDocument>, typeof jsonSteps][] = [
  ['jsonc', jsoncDocuments, jsonSteps],
  ['toml', tomlDocuments, tomlSteps],
];

test.each(cases)(
  '%s: whatever a file holds, steps leave the rest as it is and are undone exactly',
  (dialect, documents, stepsFor) => {
    fc.assert(
      fc.property(documents, fc.nat({ max: 20 }), (document, choice) => {
        const { text } = document;
        const steps = stepsFor(document, choice);
        const result = taken(text, dialect, steps);
        const added = taken(
          text,
          dialect,
          steps.filter(({ kind }) => kind !== 'remove'),
        );
        expect(isKept(text, added.after)).toBe(true);
        expect(undone(result, result.after, dialect)).toBe(text);
        // Again, from what is already there.
        expect(taken(result.after, dialect, steps).splices).toEqual([]);
      }),
      { numRuns: 400 },
    );
  },
);

test.each(cases)(
  '%s: what a person changes meanwhile stays, and everything else is as it was',
  (dialect, documents, stepsFor) => {
    fc.assert(
      fc.property(documents, fc.nat({ max: 20 }), fc.constantFrom(0, 1), (document, choice, which) => {
        const { text, marks } = document;
        const change = (each: string): string => each.replace(marks[which] ?? '', 'changed by a person');
        const result = taken(text, dialect, stepsFor(document, choice));
        expect(undone(result, change(result.after), dialect)).toBe(change(text));
      }),
      { numRuns: 300 },
    );
  },
);

test.each(cases)('%s: changes before and behind leave no trace of the steps either', (dialect, documents, stepsFor) => {
  fc.assert(
    fc.property(documents, fc.nat({ max: 20 }), (document, choice) => {
      const { text, marks } = document;
      const change = (each: string): string => each.replace(marks[0], 'one').replace(marks[1], 'two');
      const result = taken(text, dialect, stepsFor(document, choice));
      const after = undone(result, change(result.after), dialect);
      expect(contentOf(after, dialect)).toEqual(contentOf(change(text), dialect));
      for (const comment of text.match(/\/\/ note, "\d"|\/\* \{ \*\/|# about it/g) ?? [])
        expect(after).toContain(comment);
    }),
    { numRuns: 300 },
  );
});

/** What was there is still there, in its order. */
function isKept(before: string, after: string): boolean {
  let at = 0;
  for (const character of after) if (character === before[at]) at += 1;
  return at === before.length;
}
