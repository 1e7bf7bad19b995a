import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readScenes } from '../support/doc-blocks.ts';
import { clients } from './clients/index.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const page = readFileSync(resolve(root, 'docs/clients.md'), 'utf8');
const versions = (
  JSON.parse(readFileSync(resolve(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  }
).dependencies;

const http = { url: 'http://127.0.0.1:4680/mcp' };
const stdio = { command: 'qm', args: ['stdio', '--agent', 'tester', '--workspace', '/home/me/team'] };
const named = clients.filter(({ name }) => name !== 'codex-optional');

test.each(named)('docs/clients.md has the settings with which $title is run', ({ title, config }) => {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
  const blocks = readScenes('docs/clients.md', section).flatMap((scene) => scene.blocks);
  expect(blocks.map(({ language, text }) => (language === 'json' ? JSON.parse(text) : text))).toEqual([
    config(http),
    config(stdio),
  ]);
});

test('docs/clients.md speaks of the versions that are run', () => {
  const shown = [...page.matchAll(/^\| (?:[A-Z]\w+ ?)+ (\d[\d.]+) \|/gm)].map(([, version]) => version);
  expect(shown.toSorted()).toEqual(Object.values(versions).toSorted());
});

test('the commands on docs/clients.md name agents and options that there are', () => {
  const [commands = ''] = /^npm run test:agents[\s\S]*?(?=^```)/m.exec(page) ?? [];
  const words = [...commands.matchAll(/^npm run test:agents(?: -- ([\w -]+?))? +#/gm)].map(([, given = '']) => given);
  expect(words).toHaveLength(4);
  const known = ['--measure', '--connect', ...clients.map(({ name }) => name)];
  expect(words.flatMap((given) => given.split(' ')).filter((word) => word !== '' && !known.includes(word))).toEqual([]);
});
