import { expect, test } from 'vitest';
import type { Dialect } from '../text/text-tree.ts';
import type { FileStep, TakenSteps } from './file-step.ts';
import { takeSteps } from './take-steps.ts';
import { undoSteps } from './undo-steps.ts';

function taken(text: string, dialect: Dialect, ...steps: FileStep[]): TakenSteps {
  const outcome = takeSteps(text, dialect, steps);
  if (outcome.kind === 'refused') throw new Error('refused');
  return outcome;
}

const put = (path: readonly string[], value: string | boolean | object): FileStep =>
  ({ kind: 'put', path, value }) as FileStep; // objects here are plain

test.each<[string, Dialect, string, FileStep]>([
  ['a map is in the way of a text', 'jsonc', '{"a": {"b": 1}}', put(['a'], 'x')],
  ['a text is in the way of a map', 'jsonc', '{"a": "b"}', put(['a', 'b'], 'x')],
  ['a key is there twice', 'jsonc', '{"a": {}, "a": {}}', put(['a', 'b'], 'x')],
  ['no list where one is needed', 'jsonc', '{"a": "b"}', { kind: 'include', path: ['a'], item: 'x' }],
  ['the text is broken', 'jsonc', '{"a": ', put(['b'], 'x')],
  ['a closed table of TOML', 'toml', 'a = { b = 1 }\n[a.c]\n', put(['a', 'd'], { e: 'f' })],
  ['an array of tables', 'toml', '[[a]]\nb = 1\n', put(['a', 'd'], { e: 'f' })],
  ['a table in several forms', 'toml', 'a.b.c = 1\n[x]\n', { kind: 'remove', path: ['a', 'b'] }],
])('refused: %s', (_what, dialect, text, step) => {
  expect(takeSteps(text, dialect, [step])).toEqual({ kind: 'refused', step });
});

test('a step that changes nothing leaves nothing to undo', () => {
  const text = '{ "a": { "on": true }, "l": ["x"] }';
  const steps = taken(
    text,
    'jsonc',
    put(['a', 'on'], true),
    { kind: 'include', path: ['l'], item: 'x' },
    { kind: 'remove', path: ['b'] },
  );
  expect(steps).toMatchObject({ taken: [], splices: [], after: text });
});

test('a flag that was set gets its old text back, unless a person has put it back', () => {
  const text = '{ "a": { "on":   true } }';
  const steps = taken(text, 'jsonc', put(['a', 'on'], false));
  expect(steps.after).toBe('{ "a": { "on":   false } }');
  expect(undoSteps(steps, '{ "z": 1, "a": { "on":   false }, "y": 2 }', 'jsonc')).toEqual({
    kind: 'undone',
    text: '{ "z": 1, "a": { "on":   true }, "y": 2 }',
    changed: [],
  });
  expect(undoSteps(steps, '{ "b": 1, "a": { "on": true } }', 'jsonc')).toMatchObject({ changed: [] });
});

test('an entry that a person changed is named, one that is gone or back is left alone', () => {
  const text = '{\n  "s": {\n    "a": { "x": 1 }, // mine\n    "b": {}\n  }\n}\n';
  const steps = taken(text, 'jsonc', put(['s', 'hub'], { c: 'd' }), { kind: 'remove', path: ['s', 'a'] });
  const changed = steps.after.replace('"d"', '"e"');
  expect(undoSteps(steps, changed, 'jsonc')).toMatchObject({ kind: 'undone', changed: [['s', 'hub']] });
  const gone = '{ "s": { "b": {}, "new": 1 } }';
  expect(undoSteps(steps, gone, 'jsonc')).toEqual({
    kind: 'undone',
    text: '{ "s": { "a": { "x": 1 }, "b": {}, "new": 1 } }',
    changed: [],
  });
  const back = '{ "s": { "a": 2, "b": {} } }';
  expect(undoSteps(steps, back, 'jsonc')).toEqual({ kind: 'undone', text: back, changed: [] });
  expect(undoSteps(steps, '{ "s": ', 'jsonc')).toEqual({ kind: 'refused', path: ['s', 'a'] });
});

test('maps that a step made go again, unless something else is in them', () => {
  const steps = taken('{}', 'jsonc', put(['p', '/w', 's', 'hub'], { c: 'd' }));
  const other = JSON.stringify({ more: 1, p: { '/w': { s: { hub: { c: 'd' } }, seen: true } } }, undefined, 2);
  expect(undoSteps(steps, other, 'jsonc')).toEqual({
    kind: 'undone',
    text: JSON.stringify({ more: 1, p: { '/w': { seen: true } } }, undefined, 2),
    changed: [],
  });
});

test('a server in YAML comes and goes', () => {
  const text = '# mine\nservers:\n  a: # first\n    command: x\n\nagents: {}\n';
  const steps = taken(text, 'yaml', put(['servers', 'hub'], { command: 'y', args: ['z'] }));
  expect(steps.after).toBe(text.replace('    command: x\n', '    command: x\n  hub:\n    command: y\n    args: [z]\n'));
  expect(undoSteps(steps, steps.after, 'yaml')).toMatchObject({ text });
  const edited = steps.after.replace('# mine', '# ours').replace('agents: {}', 'agents: { b: {} }');
  expect(undoSteps(steps, edited, 'yaml')).toMatchObject({
    text: text.replace('# mine', '# ours').replace('agents: {}', 'agents: { b: {} }'),
    changed: [],
  });
  const fresh = taken('', 'yaml', put(['version'], 'one'), put(['servers', 'hub'], { command: 'y' }));
  expect(undoSteps(fresh, `${fresh.after}# a note\n`, 'yaml')).toMatchObject({ changed: [] });
});

test('a table of TOML that was taken out comes back whole, with what is below it', () => {
  const text = '[s.a] # mine\nc = "x"\n\n[s.a.env]\nA = "b" # c\n\n[t]\nd = 1\n';
  const steps = taken(text, 'toml', { kind: 'remove', path: ['s', 'a'] });
  expect(steps.after).toBe('\n\n[t]\nd = 1\n');
  expect(undoSteps(steps, steps.after, 'toml')).toMatchObject({ text });
  expect(undoSteps(steps, '# one\n\n[t]\nd = 2\n', 'toml')).toMatchObject({
    text: '# one\n\n[t]\nd = 2\n\n[s.a] # mine\nc = "x"\n\n[s.a.env]\nA = "b" # c\n',
  });
});
