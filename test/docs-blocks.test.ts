import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readScenes } from './support/doc-blocks.ts';
import { placeOf, readPages, scenesToPlay } from './support/doc-pages.ts';
import { playScene } from './support/doc-scene.ts';
import { difference } from './support/doc-shown.ts';
import { verifies } from './support/verifies.ts';

const root = resolve(import.meta.dirname, '..');
const scenes = readPages();
const blocks = scenes.flatMap((scene) => scene.blocks);

test(verifies('docs:examples', 'every code block is accounted for'), () => {
  const left = blocks.filter(({ kind }) => kind === undefined);
  expect(left.map(placeOf), 'put a comment before each, see test/support/doc-blocks.ts').toEqual([]);
});

test('a block that another test checks is read by that test', () => {
  const checked = blocks.filter(({ kind }) => kind === 'checked');
  const lost = checked.filter(({ page, about }) => {
    const file = join(root, about);
    return !about.endsWith('.test.ts') || !existsSync(file) || !names(readFileSync(file, 'utf8'), page);
  });
  expect(lost.map((block) => `${placeOf(block)} → ${block.about}`)).toEqual([]);
});

test('what cannot run here says why, and is little', () => {
  const left = blocks.filter(({ kind }) => kind === 'not run');
  for (const block of left) expect(block.about, placeOf(block)).toMatch(/\w+ \w+/);
  console.log(`Not run (${left.length}):\n${left.map((block) => `  ${placeOf(block)} ${block.about}`).join('\n')}`);
  expect(left.length).toBeLessThanOrEqual(5);
});

test.each(scenesToPlay(scenes, false))('what is shown from %s on is so', { timeout: 180_000 }, (_name, scene) =>
  playScene(scene),
);

test('a block belongs to the remark right before it, and a file may name itself', () => {
  const text = [
    ...['<!-- file: a.yaml -->', '```yaml', 'a: 1', '```', '', '```sh', 'qm ls', '```', ''],
    ...['<!-- workspace: team -->', '', '<!-- run -->', '', '  ```console', '  $ qm ls', '  ```', ''],
    ...['```yaml', '# .mcp/servers/x.yaml', '```', '<!-- not run: no key here -->', 'words', '```', '```'],
  ];
  expect(readScenes('x.md', text.join('\n'))).toMatchObject([
    {
      workspace: 'empty',
      blocks: [
        { line: 2, language: 'yaml', text: 'a: 1\n', kind: 'file', about: 'a.yaml' },
        { line: 6, kind: undefined },
      ],
    },
    {
      workspace: 'team',
      line: 10,
      blocks: [
        { line: 14, text: '$ qm ls\n', kind: 'run' },
        { kind: 'file', about: '.mcp/servers/x.yaml' },
        { kind: undefined },
      ],
    },
  ]);
});

test('times, durations and ids may differ from the page, words may not', () => {
  const ids = new Map<string, string>();
  const shown = ['2026-11-16 05:02:33  tester  462.0  tester-0b9rnjt7', '…', 'in /home/me/team, 12 ms'];
  const said = ['2026-01-02 15:00:00 tester 1.5 tester-abcdefgh', 'more', 'and more', 'in /var/folder/x, 7 ms'];
  expect(difference(shown, said, ids)).toBe('');
  expect(ids.get('0b9rnjt7')).toBe('abcdefgh');
  expect(difference(['run 0b9rnjt7'], ['run zzzzzzzz'], ids)).toContain('shown: run 0b9rnjt7');
  expect(difference(['one', 'two'], ['one'], ids)).toBe('shown and not said: two');
  expect(difference(['one'], ['one', 'two'], ids)).toBe('said and not shown: two');
  expect(difference(['one …'], ['one two'], ids)).toBe('');
  expect(difference(['version 0.6.3'], ['version 0.7.3'], ids)).toContain('0.7.3');
});

/** By its path below docs/, or its name. */
function names(test: string, page: string): boolean {
  return test.includes(page.replace(/^.*\//, ''));
}
