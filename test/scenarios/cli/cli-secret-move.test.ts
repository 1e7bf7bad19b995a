// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { trustSchema } from '../../../src/faces/cli/json-shapes.ts';
import { secretListSchema, secretMovedSchema } from '../../../src/faces/cli/state-shapes.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { stateEnv } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { makeWorkspace, type QmResult, runQm, serveQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';
import { type OnScreen, runOnScreen } from '../screen.fixture.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const value = `ghp_${'aB3'.repeat(12)}`;

async function open(file: string, text: string): Promise<string> {
  const workspace = await makeWorkspace();
  await mkdir(dirname(join(workspace, file)), { recursive: true });
  await writeFile(join(workspace, file), text);
  return workspace;
}

const move = (workspace: string, ...args: string[]): Promise<QmResult> =>
  runHere(['secret', 'move', ...args], { cwd: workspace });

async function stored(workspace: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { stdout } = await runHere(['secret', 'ls', '--json'], { cwd: workspace });
  const { secrets } = secretListSchema.parse(JSON.parse(stdout));
  return Object.fromEntries(secrets.map(({ name, servers }) => [name, servers]));
}

const header = (opening: string): string =>
  `{\n  ${opening}"s": {\n      "url": "https://x.example/mcp", // kept\n      "headers": {"Authorization": "Bearer ${value}"}\n    } } }`;

const formats: readonly [file: string, text: string, variable: string, note: RegExp | undefined][] = [
  [
    'quartermaster.yaml',
    `# mine\nservers:\n  s: # here\n    url: https://x.example/mcp\n    headers:\n      Authorization: Bearer ${value}   # soon\n`,
    '${S_TOKEN}',
    undefined,
  ],
  ['.mcp.json', header('"mcpServers": {'), '${S_TOKEN}', /Claude Code reads this file itself/],
  ['.squad/mcp-config.json', header('"servers": {'), '${S_TOKEN}', /another program reads this file/],
  ['.vscode/mcp.json', header('"servers": {'), '${env:S_TOKEN}', /VS Code reads/],
  ['.cursor/mcp.json', header('"mcpServers": {'), '${env:S_TOKEN}', /Cursor reads/],
  ['.github/mcp.json', header('"mcpServers": {').replace('{"Auth', '{ "Auth'), '${S_TOKEN}', /Copilot CLI reads/],
  ['.gemini/settings.json', header('"mcpServers": {').replace('"url"', '"httpUrl"'), '${S_TOKEN}', /Gemini CLI reads/],
  ['opencode.json', header('"mcp": {').replace('"url"', '"type": "remote", "url"'), '{env:S_TOKEN}', /OpenCode reads/],
  [
    '.mcp/servers/s.yaml',
    `id: s\ntransport:\n  type: http\n  url: https://x.example/mcp\n  headers: { Authorization: "Bearer ${value}" }\n`,
    '${S_TOKEN}',
    /another program/,
  ],
  [
    'ops/adk/servers/s.yaml',
    `id: s\ntransport:\n  type: http\n  url: https://x.example/mcp\n  headers:\n    Authorization: 'Bearer ${value}'\n`,
    '${S_TOKEN}',
    /another program/,
  ],
];

test.each(formats)(
  verifies('secrets:move', 'a secret in %s is stored, and its variable is written in its place'),
  async (file, text, variable, note) => {
    const workspace = await open(file, text);
    const preview = await move(workspace, 's');
    expect(preview).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Add --yes to agree') });
    expect(preview.stderr).toContain(`+ Bearer ${variable}`);
    expect(preview.stderr).toContain('- Bearer [redacted]');
    if (note === undefined) expect(preview.stderr).not.toContain('reads this file');
    else expect(preview.stderr).toMatch(note);
    expect(await readFile(join(workspace, file), 'utf8')).toBe(text);
    expect(await stored(workspace)).toEqual({});
    const moved = await move(workspace, 's', '--yes');
    expect(moved).toMatchObject({ code: 0, stdout: '' });
    expect(moved.stderr).toContain('Moved to the secret S_TOKEN.');
    expect(await readFile(join(workspace, file), 'utf8')).toBe(text.replace(value, () => variable));
    expect(await stored(workspace)).toEqual({ S_TOKEN: ['s'] });
    const again = await move(workspace, 's', '--yes');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('No secret is written into a file') });
    expect(JSON.stringify([preview, moved, again])).not.toContain('ghp_');
  },
);

const all = {
  mcpServers: {
    s: { command: 'x', env: { API_KEY: 'another-4711-key' }, args: ['--token', value, `--password=${value}`] },
  },
};

test(verifies('secrets:move', 'all secrets of a server move at once, the same one under one name'), async () => {
  const workspace = await open('.mcp.json', `\ufeff${JSON.stringify(all)}`);
  const { code, stdout, stderr } = await move(workspace, 's', '--yes', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { moved, hub } = secretMovedSchema.parse(JSON.parse(stdout));
  expect(hub).toBeNull();
  expect(moved.map(({ field, name }) => [field, name])).toEqual([
    ['env.API_KEY', 'API_KEY'],
    ['args.1', 'S_TOKEN'],
    ['args.2', 'S_TOKEN'],
  ]);
  const text = await readFile(join(workspace, '.mcp.json'), 'utf8');
  expect(text).toBe(
    `\ufeff${JSON.stringify({ mcpServers: { s: { command: 'x', env: { API_KEY: '${API_KEY}' }, args: ['--token', '${S_TOKEN}', '--password=${S_TOKEN}'] } } })}`,
  );
});

test(verifies('secrets:move', 'one text may contain two secrets'), async () => {
  const url = `postgres://me:hunter2-hunter2@db/x?token=${value}`;
  const workspace = await open('quartermaster.yaml', `servers:\n  s: { command: x, args: ["${url}"] }\n`);
  expect((await move(workspace, 's', '--yes')).code).toBe(0);
  expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe(
    'servers:\n  s: { command: x, args: ["postgres://me:${S_TOKEN_2}@db/x?token=${S_TOKEN}"] }\n',
  );
});

test(verifies('secrets:move', 'a name that means something else already is not taken'), async () => {
  const config = `servers:\n  s: { command: x, env: { API_KEY: "${value}" } }\n  u: { command: x, env: { A: "\${API_KEY}" } }\n`;
  const workspace = await open('quartermaster.yaml', config);
  await writeFile(join(workspace, '.env'), 'API_KEY=of-another-server\n');
  expect((await move(workspace, 's', '--yes', '--as', 'API_KEY')).stderr).toContain('without changing something else');
  expect((await move(workspace, 's', '--yes')).code).toBe(0);
  expect(await stored(workspace)).toEqual({ S_API_KEY: ['s'] });
  expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe(config.replace(value, '${S_API_KEY}'));
});

test(verifies('secrets:move', 'a stored value is never replaced by a move'), async () => {
  const workspace = await open('quartermaster.yaml', `servers:\n  s: { command: x, env: { API_KEY: "${value}" } }\n`);
  const env = { API_KEY: 'of-the-operator' };
  await runHere(['secret', 'set', '--from-env', 'API_KEY'], { cwd: workspace, env });
  const named = await move(workspace, 's', '--yes', '--as', 'API_KEY');
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('is stored with another value') });
  expect((await move(workspace, 's', '--yes', '--as', '9x')).code).toBe(2);
  expect((await move(workspace, 's', '--yes', '--as', 'a-b')).stderr).toContain('cannot be moved');
  expect((await move(workspace, 's', '--yes')).code).toBe(0);
  expect(Object.keys(await stored(workspace))).toEqual(['API_KEY', 'S_API_KEY']);
});

test.each<[string, string, string, RegExp]>([
  [
    'a format without variables',
    '.codex/config.toml',
    `[mcp_servers.s]\ncommand = "x"\n[mcp_servers.s.env]\nAPI_KEY = "${value}"\n`,
    /its texts contain no variables/,
  ],
  [
    'an alias',
    'quartermaster.yaml',
    `x-key: &k ${value}\nservers: { s: { command: x, env: { API_KEY: *k } } }\n`,
    /No secret|cannot be (moved|edited)/,
  ],
])('%s is left as it is, with the reason', async (_what, file, text, says) => {
  const workspace = await open(file, text);
  const { code, stderr } = await move(workspace, 's', '--yes');
  expect(code).toBe(2);
  expect(stderr).toMatch(says);
  expect(await readFile(join(workspace, file), 'utf8')).toBe(text);
  expect(await stored(workspace)).toEqual({});
});

test('remaining occurrences of the value in the file are reported', async () => {
  const config = `servers:\n  # was ${value}\n  s: { command: x, env: { API_KEY: "${value}" } }\n`;
  const workspace = await open('quartermaster.yaml', config);
  const { stderr } = await move(workspace, 's', '--yes');
  expect(stderr).toContain('The value of API_KEY is still in quartermaster.yaml, line 2: remove it there.');
  expect(stderr).not.toContain('ghp_');
});

test('a linked file stays a link, with its mode', async () => {
  const workspace = await open('dotfiles/q.yaml', `servers:\n  s: { command: x, env: { API_KEY: "${value}" } }\n`);
  await symlink(join(workspace, 'dotfiles', 'q.yaml'), join(workspace, 'quartermaster.yaml'));
  const before = (await stat(join(workspace, 'dotfiles', 'q.yaml'))).mode;
  expect((await move(workspace, 's', '--yes')).code).toBe(0);
  expect(await readFile(join(workspace, 'dotfiles', 'q.yaml'), 'utf8')).toContain('${API_KEY}');
  expect((await stat(join(workspace, 'dotfiles', 'q.yaml'))).mode).toBe(before);
});

test(
  verifies('secrets:move-order', 'if the file cannot be written, the secret is stored and the file as it was'),
  async () => {
    const config = `servers:\n  s: { command: x, env: { API_KEY: "${value}" } }\n`;
    const workspace = await open('disk/q.yaml', config);
    await symlink(join(workspace, 'disk', 'q.yaml'), join(workspace, 'quartermaster.yaml'));
    const preload = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'failing-disk.mjs')).href;
    const env = { NODE_OPTIONS: `--import=${preload}`, FAILING_DISK: join(workspace, 'disk'), DISK_ERROR: 'ENOSPC' };
    const full = await runQm(['secret', 'move', 's', '--yes', '--workspace', workspace], { env });
    expect(full.code).toBe(3);
    expect(full.stderr).toContain('API_KEY is stored, but still in quartermaster.yaml');
    expect(full.stderr).not.toContain('ghp_');
    expect(await readFile(join(workspace, 'disk', 'q.yaml'), 'utf8')).toBe(config);
    // The next one ends it, under the same name.
    expect((await move(workspace, 's', '--yes')).code).toBe(0);
    expect(await stored(workspace)).toEqual({ API_KEY: ['s'] });
  },
);

const onScreen = (workspace: string, ...args: string[]): OnScreen =>
  runOnScreen(args, { workspace, columns: 120, env: stateEnv });

const shows = (screen: OnScreen, text: string): Promise<true> =>
  eventually(() => (screen.stderr().includes(text) ? true : undefined), `the screen to show ${text}`);

test(
  verifies('secrets:move-order', 'a file that changes after the preview is not touched, and nothing is stored'),
  async () => {
    const config = `servers:\n  s: { command: x, env: { API_KEY: "${value}" } }\n`;
    const workspace = await open('quartermaster.yaml', config);
    const screen = onScreen(workspace, 'secret', 'move', 's');
    await shows(screen, 'Move it? [y/N]');
    await writeFile(join(workspace, 'quartermaster.yaml'), `${config}# more\n`);
    screen.type('y\r');
    expect(await within(screen.ended, 'the command to end')).toBe(1);
    expect(screen.stderr()).toContain('was changed meanwhile; nothing was moved');
    expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe(`${config}# more\n`);
    expect(await stored(workspace)).toEqual({});
  },
);

test(verifies('secrets:move', 'qm doctor offers it on a terminal; anything but yes changes nothing'), async () => {
  const echo = `command: ${process.execPath}, args: ["${fixturePath('echo-stdio.mjs')}"]`;
  const config = `servers:\n  s: { ${echo}, env: { API_KEY: "${value}" } }\n  u: { ${echo}, env: { TOKEN: "${value}x" } }\n`;
  const workspace = await open('quartermaster.yaml', config);
  const declined = onScreen(workspace, 'doctor', 's');
  await shows(declined, 'Move this secret out of the file? [y/N]');
  declined.type('\r');
  expect(await within(declined.ended, 'the command to end')).toBe(0);
  expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe(config);
  const agreed = onScreen(workspace, 'doctor', 's');
  await shows(agreed, '[y/N]');
  agreed.type('yes\r');
  expect(await within(agreed.ended, 'the command to end')).toBe(0);
  expect(agreed.stderr()).toContain('Moved to the secret API_KEY.');
  // The other server was not asked about.
  expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe(
    config.replace(`${value}"`, '${API_KEY}"'),
  );
  expect(declined.stdout() + declined.stderr() + agreed.stdout() + agreed.stderr()).not.toContain('ghp_');
  const without = await runHere(['doctor'], { cwd: workspace });
  expect(without.stdout).toContain('Run `qm secret move u env.TOKEN`');
  expect(without.stdout).not.toContain('ghp_');
});

test(
  verifies('secrets:move', 'a trusted server stays trusted, and one that waits for approval goes on waiting'),
  async () => {
    const config = `servers:\n  s: { command: x, env: { API_KEY: "${value}" } }\n  u: { command: x, env: { KEY_TOKEN: "${value}x" } }\n`;
    const workspace = await open('quartermaster.yaml', config);
    const qm = (...args: string[]): Promise<QmResult> =>
      runHere(args, { cwd: workspace, env: { XDG_CONFIG_HOME: '/nonexistent' } });
    const states = async (): Promise<unknown> => {
      const { items } = trustSchema.parse(JSON.parse((await qm('trust', '--show', '--json')).stdout));
      return items.filter(({ name }) => name !== null).map(({ name, state }) => [name, state]);
    };
    expect((await qm('trust', 's')).code).toBe(0);
    const before = await states();
    expect(before).toEqual([
      ['s', 'approved'],
      ['u', 'waiting'],
    ]);
    expect((await qm('secret', 'move', 's', '--yes')).code).toBe(0);
    expect((await qm('secret', 'move', 'u', '--yes')).code).toBe(0);
    expect(await states()).toEqual(before);
    expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).not.toContain('ghp_');
  },
);

test(verifies('secrets:move', 'a running hub goes on with the same value, from the store'), async () => {
  const echo = `command: ${process.execPath}, args: ["${fixturePath('echo-stdio.mjs')}"]`;
  const workspace = await open('quartermaster.yaml', `servers:\n  s: { ${echo}, env: { API_KEY: "${value}" } }\n`);
  const hub = await serveQm(workspace);
  const call = (): Promise<QmResult> =>
    runQm(['call', 's.env', 'name=API_KEY', '--agent', 'a', '--workspace', workspace]);
  expect((await call()).stdout).toBe(`${value}\n`);
  const moved = await runQm(['secret', 'move', 's', '--yes', '--workspace', workspace]);
  expect(moved.stderr).toContain('has applied the change');
  expect((await call()).stdout).toBe(`${value}\n`);
  await runQm(['secret', 'set', 'API_KEY', '--workspace', workspace], { input: 'another-value-1' });
  expect((await call()).stdout).toBe('another-value-1\n');
  hub.signal('SIGTERM');
  await hub.ended();
});
