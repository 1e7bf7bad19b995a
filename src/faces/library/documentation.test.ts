import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import * as library from '../../index.ts';
import { broken, openWorkspace } from './library-stage.fixture.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/library.md'), 'utf8');
const snippets = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
const filesServer = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json')),
  'dist',
  'index.js',
);

async function workspaceOfThePage(): Promise<string> {
  const workspace = await openWorkspace({
    servers: {
      files: { command: process.execPath, args: [filesServer, '.'] },
      github: broken,
      helper: {
        command: process.execPath,
        args: [fixturePath('matrix.mjs'), '--era', 'modern', '--label', 'helper', '--stdio'],
      },
    },
    agents: {
      tester: { servers: ['files', 'github', 'helper'], tools: { helper: { exclude: ['resource:*/bytes'] } } },
    },
  });
  await writeFile(join(workspace, 'welcome.md'), 'Welcome.\n');
  return workspace;
}

/** Runs a snippet as a program would, and returns what it printed, by stream. */
async function run(snippet: string, given: Record<string, unknown>): Promise<{ out: unknown[][]; err: unknown[][] }> {
  const out: unknown[][] = [];
  const err: unknown[][] = [];
  const console = { log: (...words: unknown[]) => out.push(words), error: (...words: unknown[]) => err.push(words) };
  const text = snippet.replace(/^import (\{.*\}) from 'quartermaster';$/m, 'const $1 = library;');
  const names = { library, console, ...given };
  const program: unknown = new Function(...Object.keys(names), `return (async () => {${text}\n})();`)(
    ...Object.values(names),
  );
  await program;
  return { out, err };
}

test('the first example of the page runs as it stands', async () => {
  const [first = ''] = snippets;
  const workspace = await workspaceOfThePage();
  const { out, err } = await run(first.replace('/home/me/team', workspace), {});
  expect(err).toEqual([]);
  expect(out).toContainEqual(['files_read_text_file', 'allow']);
  expect(out.at(-1)).toEqual(['Welcome.\n']);
});

test('the other examples run with the hub and the agent of the first', async () => {
  const hub = await library.createHub({ workspace: await workspaceOfThePage(), env: { PATH: process.env.PATH } });
  onTestFinished(() => hub.close());
  const given = { hub, tester: hub.agent('tester') };
  const printed = [];
  for (const snippet of snippets.slice(1)) printed.push(await run(snippet, given));
  expect(printed).toEqual([
    { out: [['read_text_file list_directory'], [1, true]], err: [] },
    {
      out: [
        [false, true],
        [true, true],
      ],
      err: [],
    },
    { out: [['memo://helper/note', 'helper:note'], ['helper:1:Ada']], err: [] },
    { out: [['helper', 'form', 'helper:1:form'], ['helper:1:accept:blue']], err: [] },
    {
      out: [],
      err: [[expect.stringMatching(/^github: Server "github" is unavailable.*Meanwhile: continue without this tool/)]],
    },
    { out: [['Welcome.\n']], err: [] },
  ]);
});

test('the page names everything that the library exports for use', () => {
  for (const name of Object.keys(library)) expect(page).toContain(name);
});
