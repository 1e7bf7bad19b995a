import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '../src/config/index.ts';
import type { Configuration } from '../src/domain/index.ts';
import { verifies } from './support/verifies.ts';

/**
 * Files as people really wrote them, which are no part of this repository: a folder beside it, one folder inside for
 * each client. Without it only the sample below is read.
 */
const corpus = resolve(import.meta.dirname, '../../shared/corpus');

interface Specimen {
  readonly name: string;
  /** Where the client has it in a project. */
  readonly place: string;
  readonly text: string;
}

interface Loaded extends Specimen {
  readonly configuration: Configuration;
}

/** A token in the place of each that was taken out of the corpus; long and odd enough to be one. */
const token = ['qX7', 'mL2', 'vR9', 'tK4'].join('').repeat(3);

const sample: readonly Specimen[] = [
  {
    name: 'sample/vscode',
    place: '.vscode/mcp.json',
    text: `{ "servers": { "a/b": { "url": "http://127.0.0.1:1/mcp" }, "b": { "command": "x", "env": { "API_TOKEN": "${token}" } } }, }`,
  },
  {
    name: 'sample/codex',
    place: '.codex/config.toml',
    text: '[mcp_servers.a]\nurl = "$URL"\n[mcp_servers.b]\nargs = 1\n',
  },
  {
    name: 'sample/gemini',
    place: '.gemini/settings.json',
    text: '{"mcpServers":{"a":{"httpUrl":"http://127.0.0.1:1/$PATH_OF_A"}}}',
  },
  { name: 'sample/broken', place: 'opencode.json', text: `"mcp": { "a": "${token}" }` },
];

const loaded: Loaded[] = [];

beforeAll(async () => {
  for (const specimen of [...sample, ...readCorpus()]) loaded.push(await loadSpecimen(specimen));
});

test(verifies('config:client-files', 'the sample shows a ready, an invalid, a renamed and a refused one'), () => {
  const [vscode, codex, gemini, broken] = loaded;
  expect([...(vscode?.configuration.servers ?? [])].map(([name, { kind }]) => [name, kind])).toEqual([
    ['a-b', 'ready'],
    ['b', 'ready'],
  ]);
  expect([...(codex?.configuration.servers.values() ?? [])].map(({ kind }) => kind)).toEqual(['invalid', 'invalid']);
  expect(gemini?.configuration.servers.get('a')?.kind).toBe('invalid');
  expect(broken?.configuration.servers.size).toBe(0);
  expect(broken?.configuration.problems).toHaveLength(1);
});

test('every file of the corpus is read', () => {
  expect(loaded.length - sample.length).toBeGreaterThanOrEqual(existsSync(corpus) ? 100 : 0);
  for (const { name, place, configuration } of loaded) expect(configuration.files, name).toEqual([place]);
});

test('at least as many servers are ready as ever, with the variables that they ask for', async () => {
  const found = new Map<string, number>();
  for (const specimen of loaded.slice(sample.length)) {
    const { configuration } = await loadSpecimen(specimen, valuesFor(specimen.configuration));
    const ready = [...configuration.servers.values()].filter(({ kind }) => kind === 'ready').length;
    const kind = specimen.name.split('/', 1)[0] ?? '';
    found.set(kind, (found.get(kind) ?? 0) + ready);
  }
  for (const [kind, ready] of existsSync(corpus) ? Object.entries(readyServers) : []) {
    expect(found.get(kind), kind).toBeGreaterThanOrEqual(ready);
  }
});

test(
  verifies('config:roles', 'every team page names its members, in the folder of either version of Squad'),
  async () => {
    const folder = join(corpus, 'squad');
    const pages = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('-team.md')) : [];
    for (const page of pages) {
      const text = readFileSync(join(folder, page), 'utf8');
      const rows = text.split('\n').filter((line) => /^\|.*(?:active|silent|monitor)/i.test(line)).length;
      for (const place of ['.squad/team.md', '.ai-team/team.md']) {
        const { configuration } = await loadSpecimen({ name: page, place, text });
        expect([configuration.files, configuration.problems], page).toEqual([[place], []]);
        expect(configuration.agents.size, page).toBeGreaterThanOrEqual(rows);
      }
    }
  },
);

describe('whatever a client’s file holds', () => {
  test('each server is ready, or invalid for a reason that is told', () => {
    for (const { name, configuration } of loaded) {
      for (const [server, found] of configuration.servers) {
        if (found.kind === 'ready') continue;
        if (found.kind !== 'invalid') throw new Error('No file makes a server untrusted.');
        const errors = found.problems.filter(({ severity }) => severity === 'error');
        expect(errors.length, `${name} ${server}`).toBeGreaterThan(0);
        for (const { message } of errors) expect(message, name).toContain(`Server "${server}"`);
      }
    }
  });

  test('with the variables that were asked for, no error is left', async () => {
    for (const specimen of loaded) {
      const env = valuesFor(specimen.configuration);
      if (Object.keys(env).length === 0) continue;
      const { configuration } = await loadSpecimen(specimen, env);
      const errors = configuration.problems.filter(({ severity }) => severity === 'error');
      expect(errors, specimen.name).toEqual([]);
    }
  });

  test('a file without any server says at most one thing, and never nothing where it cannot be parsed', () => {
    for (const { name, configuration, text } of loaded.filter((each) => each.configuration.servers.size === 0)) {
      expect(configuration.problems.length, name).toBeLessThanOrEqual(1);
      if (!/[{[]/.test(text.trimStart().slice(0, 1)) && !text.includes('='))
        expect(configuration.problems, name).toHaveLength(1);
    }
  });

  test('each problem names its file and line, is a sentence, and an error says what to do', () => {
    for (const { name, place, configuration } of loaded) {
      for (const problem of configuration.problems) {
        const told = `${name}: ${problem.message}`;
        expect(problem.file, told).toBe(place);
        expect(problem.line, told).toBeGreaterThan(0);
        expect(problem.message, told).toMatch(/\.$/);
        expect(problem.message, told).not.toMatch(/INTERNAL|undefined|\[object|NaN/);
        if (problem.severity === 'error') expect(problem.fix, told).toMatch(/^[A-Z].*[.?]$/s);
      }
    }
  });

  test('no problem repeats a secret of the file, and what was found as one is redacted', () => {
    for (const { name, configuration, text } of loaded) {
      expect(JSON.stringify(configuration.problems), name).not.toContain(token);
      const told = configuration.problems.filter(({ message }) => message.includes('looks like a secret'));
      if (told.length > 0 && text.includes(token)) expect(configuration.secrets.join(' '), name).toContain(token);
    }
  });

  test('warnings are few: what a client documents is silent', () => {
    for (const { name, configuration } of loaded) {
      const unread = configuration.problems.filter(({ message }) => message.includes('unknown and ignored'));
      expect(unread.length, `${name}: ${unread.map(({ field }) => field).join(' ')}`).toBeLessThanOrEqual(2);
    }
  });
});

/** How many servers of the corpus were ready when this was written. */
const readyServers: Readonly<Record<string, number>> = {
  'claude-project': 51,
  'claude-desktop': 22,
  vscode: 28,
  cursor: 22,
  copilot: 25,
  gemini: 18,
  opencode: 17,
  codex: 12,
};

/** A value for each variable that is said to be missing. */
function valuesFor({ problems }: Configuration): Readonly<Record<string, string>> {
  const wanted = problems.flatMap(({ message }) => /needs the variable (\S+),/.exec(message)?.[1] ?? []);
  return Object.fromEntries(wanted.map((name) => [name, 'value']));
}

async function loadSpecimen(specimen: Specimen, env: Readonly<Record<string, string>> = {}): Promise<Loaded> {
  const workspace = await mkdtemp(join(tmpdir(), 'corpus-'));
  try {
    const path = join(workspace, specimen.place);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, specimen.text);
    return { ...specimen, configuration: await loadConfiguration({ env }, { workspace }) };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

function readCorpus(): Specimen[] {
  if (!existsSync(corpus)) return [];
  return Object.entries(places).flatMap(([kind, placeOf]) =>
    readdirSync(join(corpus, kind))
      .sort()
      .map((file) => ({
        name: `${kind}/${file}`,
        place: placeOf(file),
        text: readFileSync(join(corpus, kind, file), 'utf8').replaceAll(
          /PLACEHOLDER_(?:TOKEN|BASIC_AUTH_VALUE)/g,
          token,
        ),
      })),
  );
}

const places: Readonly<Record<string, (file: string) => string>> = {
  'claude-project': () => '.mcp.json',
  // Its own file is in the home folder; the shape is the same.
  'claude-desktop': () => '.mcp.json',
  vscode: () => '.vscode/mcp.json',
  cursor: () => '.cursor/mcp.json',
  copilot: (file) => (Number(file.slice(0, 2)) <= 4 ? '.copilot/mcp-config.json' : '.github/mcp.json'),
  gemini: () => '.gemini/settings.json',
  opencode: (file) => (file.endsWith('.jsonc') ? 'opencode.jsonc' : 'opencode.json'),
  codex: () => '.codex/config.toml',
};
