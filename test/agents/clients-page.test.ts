import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Client, type HubEntry, knownClients } from '../../src/clients/index.ts';
import { readScenes } from '../support/doc-blocks.ts';
import { clients } from './clients/index.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const read = (page: string): string => readFileSync(resolve(root, page), 'utf8');
const overview = read('docs/clients.md');
const versions = (
  JSON.parse(readFileSync(resolve(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  }
).dependencies;

/** Below docs/clients/, by the name of the client. */
const pages: Readonly<Record<string, string>> = {
  'claude-code': 'claude-code.md',
  'claude-desktop': 'claude-desktop.md',
  vscode: 'vscode.md',
  cursor: 'cursor.md',
  copilot: 'copilot.md',
  codex: 'codex.md',
  gemini: 'gemini.md',
  opencode: 'opencode.md',
  windsurf: 'windsurf.md',
  zed: 'zed.md',
};
const pageOf = (name: string): string => `docs/clients/${pages[name]}`;

const url = 'http://127.0.0.1:4680/mcp';
const program = { command: 'qm', args: ['stdio', '--agent', 'tester', '--workspace', '/home/me/team'] };
const run = clients.filter(({ name }) => name !== 'codex-optional');
const onlyDocumented = knownClients.filter(({ name }) => !run.some((client) => client.name === name));

test('each client of qm connect has a page with its command and how to go on', () => {
  expect(Object.keys(pages)).toEqual(knownClients.map(({ name }) => name));
  for (const { name, title, restart } of knownClients) {
    const text = read(pageOf(name));
    expect(text).toMatch(new RegExp(`^# ${title}\n`));
    expect(text).toContain(`\`\`\`sh\nqm connect ${name} --agent tester\n`);
    expect(text.replaceAll(/\s+/g, ' '), name).toContain(restart);
    expect(overview).toContain(`[${title}](clients/${pages[name]}) | \`${name}\` |`);
  }
});

test.each(run)('the page of $title has the settings with which it is run', ({ name, config }) => {
  expect(entriesOn(name)).toEqual([config({ url }), config(program)]);
});

test.each(onlyDocumented)('the page of $title has the entries that qm connect writes', (client) => {
  const http: HubEntry = { kind: 'http', url, tokenVariable: 'QM_TOKEN' };
  const stdio: HubEntry = { kind: 'stdio', ...program, env: {} };
  const written = [http, stdio].flatMap((draft) => fileWith(client, draft) ?? []);
  expect(entriesOn(client.name)).toEqual(written);
});

test('the pages speak of the versions that are run', () => {
  const shown = [...overview.matchAll(/^\| (?:[A-Z]\w+ ?)+ (\d[\d.]+) \|/gm)].map(([, version]) => version);
  expect(shown.toSorted()).toEqual(Object.values(versions).toSorted());
  const measured = run.map(({ name, title }) => {
    const [, version] = new RegExp(`^Measured with ${title} (\\d[\\d.]+) from npm`, 'm').exec(read(pageOf(name))) ?? [];
    return version;
  });
  expect(measured.toSorted()).toEqual(Object.values(versions).toSorted());
  for (const { name } of onlyDocumented) expect(read(pageOf(name)), name).toContain('We did not run it');
});

test('the commands on docs/clients.md name agents and options that there are', () => {
  const [commands = ''] = /^npm run test:agents[\s\S]*?(?=^```)/m.exec(overview) ?? [];
  const words = [...commands.matchAll(/^npm run test:agents(?: -- ([\w -]+?))? +#/gm)].map(([, given = '']) => given);
  expect(words).toHaveLength(4);
  const known = ['--measure', '--connect', ...clients.map(({ name }) => name)];
  expect(words.flatMap((given) => given.split(' ')).filter((word) => word !== '' && !known.includes(word))).toEqual([]);
});

/** The settings that a page shows: parsed JSON, or the text of another format. */
function entriesOn(name: string): unknown[] {
  const blocks = readScenes(pageOf(name), read(pageOf(name))).flatMap((scene) => scene.blocks);
  return blocks
    .filter(({ language }) => language !== 'sh')
    .map(({ language, text }) => (language === 'json' ? JSON.parse(text) : text));
}

/** Undefined if the client cannot use such an entry. */
function fileWith(client: Client, draft: HubEntry): object | undefined {
  const at = {
    env: {},
    home: '/home/me',
    platform: 'linux',
    workspace: '/w',
    project: '/w',
    exists: () => false,
  } as const;
  const entry = client.write(draft);
  const [key = ''] = client.places(at)[0]?.servers ?? [];
  return entry === undefined ? undefined : { [key]: { hub: entry } };
}
