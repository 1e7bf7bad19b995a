import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { connectSchema } from '../src/faces/cli/json-shapes.ts';
import { echo, makeMachine } from './scenarios/connect/machine.fixture.ts';
import { isEverydayRun } from './support/everyday.ts';
import { verifies } from './support/verifies.ts';

/** Files as people really wrote them, which are no part of this repository; without them only the samples are used. */
const corpus = resolve(import.meta.dirname, '../../shared/corpus');

interface Place {
  readonly client: string;
  readonly scope: 'project' | 'user';
  readonly file: string;
}

/** Every place where the client has such a file, and where the hub goes into it. */
const places: Readonly<Record<string, readonly Place[]>> = {
  'claude-project': [{ client: 'claude-code', scope: 'project', file: '.mcp.json' }],
  'claude-desktop': [{ client: 'claude-desktop', scope: 'user', file: '~/.config/Claude/claude_desktop_config.json' }],
  vscode: [
    { client: 'vscode', scope: 'project', file: '.vscode/mcp.json' },
    { client: 'vscode', scope: 'user', file: '~/.config/Code/User/mcp.json' },
  ],
  cursor: [
    { client: 'cursor', scope: 'project', file: '.cursor/mcp.json' },
    { client: 'cursor', scope: 'user', file: '~/.cursor/mcp.json' },
  ],
  copilot: [{ client: 'copilot', scope: 'user', file: '~/.copilot/mcp-config.json' }],
  codex: [
    { client: 'codex', scope: 'project', file: '.codex/config.toml' },
    { client: 'codex', scope: 'user', file: '~/.codex/config.toml' },
  ],
  gemini: [
    { client: 'gemini', scope: 'project', file: '.gemini/settings.json' },
    { client: 'gemini', scope: 'user', file: '~/.gemini/settings.json' },
  ],
  opencode: [
    { client: 'opencode', scope: 'project', file: '.opencode/opencode.json' },
    { client: 'opencode', scope: 'user', file: '~/.config/opencode/opencode.json' },
  ],
};

const samples: Readonly<Record<string, readonly string[]>> = {
  'claude-project': ['{"mcpServers":{"a":{"command":"x"}}}', '{ "b": { "command": "y" } }\n\n'],
  'claude-desktop': ['{\r\n  "mcpServers": {}\r\n}'],
  vscode: ['{ "servers": { "a/b": { "url": "http://127.0.0.1:1/mcp" }, }, }', '"mcp": {'],
  cursor: ['{\n\t"mcpServers": {\n\t\t"c": { "command": "x", "env": {} }\n    }\n}'],
  copilot: ['{ "_docs": { "a": 1 }, "mcpServers": { "d": { "type": "local", "command": "x", "tools": ["*"] } } }\r\n'],
  codex: [
    '# mine\n[mcp_servers.e]\nargs = [\n  "a",\n]\ncommand = "x"\n\n[mcp_servers.e.env]\nA = "b"\n',
    'model = "m"',
  ],
  gemini: ['{"mcp":{"allowed":["f"]},"mcpServers":{"f":{"command":"x","trust":true}}}'],
  opencode: ['{\n  "mcp": {\n    "g": { "type": "local", "command": ["x"] }\n  , // odd\n  },\n}\n'],
};

function textsOf(kind: string): readonly (readonly [name: string, text: string])[] {
  const own = (samples[kind] ?? []).map((text, index) => [`sample ${index + 1}`, text] as const);
  const folder = join(corpus, kind);
  const found = existsSync(folder) ? readdirSync(folder).sort() : [];
  return [...own, ...found.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)];
}

const cases = Object.entries(places).flatMap(([kind, all]) => all.map((place) => ({ kind, ...place })));

test.each(cases)(
  verifies(
    'connect:files',
    '$kind: real files, in the $scope scope, are changed only where they have to and restored exactly',
  ),
  async ({ kind, client, scope, file }) => {
    const texts = textsOf(kind);
    expect(texts.length).toBeGreaterThan(existsSync(corpus) ? 7 : 0);
    for (const [index, [name, text]] of texts.entries()) {
      // Where a client has two such places, each file is tried in one of them.
      const isOther = (places[kind] ?? []).length > 1 && index % 2 === (scope === 'user' ? 0 : 1);
      if (isEverydayRun() && isOther && !name.startsWith('sample')) continue;
      const machine = await makeMachine();
      await machine.put('quartermaster.yaml', { servers: { own: echo }, agents: {} });
      await machine.put(file, text);
      const before = machine.snapshot();
      const { code, stdout, stderr } = await machine.connect(client, '--scope', scope, '--json');
      if (code !== 0) {
        // A file that cannot be read is named with its line.
        expect(stderr, `${name}: ${stderr}`).toMatch(/:\d+:? .*cannot be parsed/);
        expect(text.trimStart().startsWith('"mcp": {'), name).toBe(true);
        expect(machine.snapshot(), name).toEqual(before);
        continue;
      }
      const answer = connectSchema.parse(JSON.parse(stdout));
      const after = machine.read(file);
      expect(after, name).not.toBe(text);
      const isWhole = answer.switchedOff.every(({ how }) => how === 'setting');
      if (isWhole) expect(isKept(text, after), name).toBe(true);
      const again = connectSchema.parse(JSON.parse((await machine.connect(client, '--scope', scope, '--json')).stdout));
      expect(again.files, name).toEqual([]);
      expect(await machine.disconnect(client), name).toMatchObject({ code: 0 });
      expect(machine.snapshot(), name).toEqual(before);
    }
  },
);

/** What was there is still there, in its order. */
function isKept(before: string, after: string): boolean {
  let at = 0;
  for (const character of after) if (character === before[at]) at += 1;
  return at === before.length;
}
