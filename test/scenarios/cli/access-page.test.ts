import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const page = await readFile(new URL('../../../docs/access.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/access-page\.test\.ts -->\n```(\w*)\n(.*?)^```$/gms)].map(([, kind, text = '']) => ({
  kind,
  text,
}));
const files = blocks.filter(({ kind }) => kind === 'yaml').map(({ text }) => text);
const screens = blocks.filter(({ kind }) => kind === '').map(({ text }) => text);

test('each example file on the page is followed by questions about it', () => {
  expect([files.length, screens.length]).toEqual([4, 4]);
});

test.each([0, 1, 2, 3])(
  verifies('view:explain', 'the page shows the output of qm explain for tools, resources and prompts: example %i'),
  async (index) => {
    const workspace = await makeWorkspace(files[index]);
    const [, ...asked] = (screens[index] ?? '').split(/^\$ qm /m);
    expect(asked.length).toBeGreaterThan(3);
    for (const text of asked) {
      const [command = '', ...shown] = text.trimEnd().split('\n');
      const { stdout, stderr } = await runHere([...command.split(' '), '--workspace', workspace], { cwd: workspace });
      const said = (stdout + stderr).trimEnd().split('\n');
      // The page mentions an agent's role only once.
      const isNew = (line: string): boolean => shown.includes(line) || !line.startsWith('Agent ');
      expect([command, said.filter(isNew)]).toEqual([command, shown]);
    }
  },
);
