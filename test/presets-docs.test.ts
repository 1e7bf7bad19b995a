import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { presets } from '../src/workspace-files/index.ts';
import { presetText } from '../src/workspace-files/presets/preset-file.ts';
import { renderEnvExample } from './support/env-example.ts';
import { renderPresetsPage } from './support/presets-page.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

test('docs/presets.md is the gallery', async () => {
  await expect(renderPresetsPage(presets), 'out of date: run `npm run docs:env`').toMatchFileSnapshot(
    '../docs/presets.md',
  );
});

test('.env.example has the variables of the gallery', async () => {
  await expect(renderEnvExample(presets), 'out of date: run `npm run docs:env`').toMatchFileSnapshot('../.env.example');
});

test.each(presets)('$id: what the file mentions is what .env.example and the page explain', (preset) => {
  const mentioned = [...presetText(preset).matchAll(/\$\{(\w+)/g)].map((match) => match[1] ?? '');
  const variables = new Set(mentioned.filter((name) => name !== 'WORKSPACE_ROOT'));
  const [, section = ''] = read('docs/presets.md').split(`\n### ${preset.id}\n`);
  const rows = [...(section.split('\n##')[0] ?? '').matchAll(/^\| `(\w+)` \| (?:\*\*required\*\*|optional): .+ \|$/gm)];
  expect(new Set(rows.map((match) => match[1]))).toEqual(variables);
  const [, group = ''] = read('.env.example').split(`(${preset.id})\n`);
  const lines = [...(group.split('\n## ')[0] ?? '').matchAll(/^# (?:Needed|Optional): .+\n#(\w+)=$/gm)];
  expect(new Set(lines.map((match) => match[1]))).toEqual(variables);
});
