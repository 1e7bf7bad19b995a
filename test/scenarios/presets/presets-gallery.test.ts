import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/index.ts';
import type { ServerSpec } from '../../../src/domain/index.ts';
import { compilePolicy } from '../../../src/governance/index.ts';
import { knownServers } from '../../../src/governance/policy/known-servers.ts';
import { recogniseServer } from '../../../src/governance/policy/recognise-server.ts';
import { emitServer, type Preset, presets, suggestRoutes } from '../../../src/workspace-files/index.ts';
import { presetText } from '../../../src/workspace-files/presets/preset-file.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, runQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

/** A value for each variable, of a kind that fits wherever it may stand. */
function valuesFor({ variables }: Preset, wanted: (required: boolean) => boolean = () => true): Record<string, string> {
  const some = variables.filter((each) => wanted(each.required));
  return Object.fromEntries(some.map(({ name }) => [name, `https://${name.toLowerCase()}.example`]));
}

async function write(workspace: string, file: string, text: string): Promise<void> {
  await mkdir(join(workspace, file, '..'), { recursive: true });
  await writeFile(join(workspace, file), text);
}

async function workspaceWith(preset: Preset): Promise<string> {
  const workspace = await makeWorkspace();
  await write(workspace, `ops/adk/servers/${preset.id}.yaml`, presetText(preset));
  return workspace;
}

async function load(
  workspace: string,
  { id }: Preset,
  env: Record<string, string>,
): Promise<{ spec: ServerSpec | undefined; problems: readonly object[] }> {
  const configuration = await loadConfiguration({ env }, { workspace });
  const server = configuration.servers.get(id);
  return { spec: server?.kind === 'ready' ? server.spec : undefined, problems: configuration.problems };
}

/** What the reader makes of text with variables, for the values that the test gives: a second, smaller expander. */
function filled(text: string, env: Record<string, string>): string {
  return text
    .replace(/\$\{(\w+):\+(.*?\$\{\w+\})\}/g, (_, name: string, then: string) => (env[name] === undefined ? '' : then))
    .replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise: string) => env[name] ?? otherwise)
    .replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? '');
}

function expected(transport: Preset['transport'], workspace: string, env: Record<string, string>): object {
  const fill = (text: string): string => filled(text, { ...env, WORKSPACE_ROOT: workspace });
  const all = (texts: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]));
  if ('url' in transport) {
    const headers = Object.entries(all(transport.headers)).filter(([, value]) => value !== '');
    const url = fill(transport.url);
    // The preset is read-only, and the hub tells the provider so.
    const mode = url.startsWith('https://mcp.supabase.com/') ? `${url.includes('?') ? '&' : '?'}read_only=true` : '';
    return { type: transport.type, url: `${url}${mode}`, headers: Object.fromEntries(headers) };
  }
  const { args = [], env: variables, ...rest } = transport;
  // npx takes no settings and no packages from the workspace.
  const guard = 'command' in rest && rest.command === 'npx' ? { guard: 'npm' } : {};
  return { ...rest, ...guard, args: args.map(fill), env: all(variables), cwd: workspace };
}

test.each(presets)('$id: the file is read as exactly what the gallery says', async (preset) => {
  const workspace = await workspaceWith(preset);
  for (const env of [valuesFor(preset), valuesFor(preset, (required) => required)]) {
    const { spec, problems } = await load(workspace, preset, env);
    expect(problems).toEqual([]);
    if (spec === undefined) throw new Error('the server is not ready');
    expect(spec).toMatchObject({ name: preset.id, description: preset.description, instead: preset.instead });
    expect([spec.transport, ...spec.fallbacks]).toEqual(
      [preset.transport, ...preset.fallback].map((each) => expected(each, workspace, env)),
    );
    const { ratePerMin, timeoutS } = preset.limits;
    expect([spec.limits.ratePerMin, spec.limits.timeoutMs]).toEqual([ratePerMin, timeoutS * 1000]);
    const { source: _, ...access } = spec.access;
    expect(access).toEqual({
      scopes: scopesOf(preset),
      readOnly: preset.guards.readOnly !== undefined,
      writeRequiresApproval: preset.guards.writeRequiresApproval ?? false,
      trustAnnotations: false,
    });
    expect(spec.tools).toEqual(preset.tools === undefined ? {} : { include: preset.tools });
  }
});

test('a guard is lowered by a clear no in its variable', async () => {
  const supabase = byId('supabase');
  const workspace = await workspaceWith(supabase);
  const readOnly = async (value: string): Promise<boolean | undefined> =>
    (await load(workspace, supabase, { MAGSAG_MCP_SUPABASE_READONLY: value })).spec?.access.readOnly;
  expect([await readOnly('false'), await readOnly('maybe'), await readOnly('')]).toEqual([false, true, true]);
});

test(verifies('scopes:provider-mode', 'with the scope db:select, Supabase can select and not write'), async () => {
  const supabase = byId('supabase');
  const workspace = await workspaceWith(supabase);
  const decide = async (env: Record<string, string>, tool: string): Promise<string> => {
    const configuration = await loadConfiguration({ env }, { workspace });
    return compilePolicy(configuration, ['dev']).decide('supabase', tool, `supabase_${tool}`, null).effect;
  };
  expect(await decide({}, 'execute_sql')).toBe('allow');
  expect(await decide({ MAGSAG_MCP_SUPABASE_READONLY: 'false' }, 'execute_sql')).toBe('allow');
  expect(await decide({}, 'apply_migration')).toBe('deny');
});

const needing = presets.filter(({ variables }) => variables.some((each) => each.required));

test.each(needing)('$id: without a needed variable it is invalid, and names that one and no other', async (preset) => {
  const workspace = await workspaceWith(preset);
  for (const missing of preset.variables.filter((each) => each.required)) {
    const { [missing.name]: _, ...env } = valuesFor(preset);
    const { spec, problems } = await load(workspace, preset, env);
    expect(spec).toBeUndefined();
    const message = expect.stringContaining(`needs the variable ${missing.name}, which is not set.`);
    expect(problems).toEqual([expect.objectContaining({ server: preset.id, severity: 'error', message })]);
    const others = preset.variables.filter(({ name }) => name !== missing.name);
    for (const { name } of others) expect(JSON.stringify(problems)).not.toContain(name);
  }
});

test.each(presets)('$id: what sync makes of it is read as the same', async (preset) => {
  const file = `ops/adk/servers/${preset.id}.yaml`;
  const emitted = emitServer({ file, text: presetText(preset) });
  if (emitted.kind !== 'server') throw new Error(`sync passes it over: ${emitted.kind}`);
  const workspace = await workspaceWith(preset);
  await write(workspace, `.mcp/servers/${preset.id}.json`, emitted.text);
  const { spec, problems } = await load(workspace, preset, valuesFor(preset));
  expect(problems).toEqual([]);
  expect([spec?.transport, ...(spec?.fallbacks ?? [])]).toEqual(
    [preset.transport, ...preset.fallback].map((each) => expected(each, workspace, valuesFor(preset))),
  );
  expect(spec).toMatchObject({ instead: preset.instead, access: { scopes: scopesOf(preset) } });
  expect(spec?.tools).toEqual(preset.tools === undefined ? {} : { include: preset.tools });
});

test('tools that routes name are tools that the server is known to have', async () => {
  const known = await Promise.all(
    presets.map(async (preset) => {
      const { spec } = await load(await workspaceWith(preset), preset, {
        ...valuesFor(preset, (required) => required),
      });
      return [preset, spec === undefined ? undefined : recogniseServer(spec)] as const;
    }),
  );
  const unknown = known.flatMap(([{ id }, server]) => (server === undefined ? [id] : []));
  // They are at addresses of each team's own; of the browser every tool counts as one that writes.
  expect(unknown).toEqual(['trello', 'slack', 'discord', 'playwright']);
  for (const [{ id, tools = [], routes }, server] of known) {
    if (server === undefined) continue;
    const named = [...tools, ...Object.values(routes).flatMap((route) => (typeof route === 'string' ? [] : route))];
    expect(
      named.filter((tool) => !server.reads.has(tool) && !server.writes.has(tool)),
      id,
    ).toEqual([]);
  }
  const patterns = ['trello', 'slack'].map((id) => byId(id).tools ?? []);
  for (const tools of patterns) {
    expect(knownServers.some(({ reads, writes }) => tools.every((tool) => reads.has(tool) || writes.has(tool)))).toBe(
      true,
    );
  }
});

test.each(presets)('$id: the suggested routes load as they stand', async (preset) => {
  const workspace = await workspaceWith(preset);
  await write(workspace, 'quartermaster.yaml', suggestRoutes([preset]));
  const configuration = await loadConfiguration({ env: valuesFor(preset) }, { workspace });
  expect(configuration.problems).toEqual([]);
  const routed = Object.entries(preset.routes).filter(([, route]) => route !== 'none');
  expect([...configuration.agents.keys()]).toEqual(routed.map(([role]) => role));
  for (const [role, route] of routed) {
    const include = typeof route === 'string' ? undefined : route;
    expect(configuration.agents.get(role)?.servers).toEqual([preset.id]);
    expect(configuration.agents.get(role)?.tools.get(preset.id)?.include).toEqual(include);
  }
});

test(verifies('preset:routes', 'bootstrap prints variables and routes that can be copied as they are'), async () => {
  const workspace = await makeWorkspace();
  const { code, stderr } = await runQm(['bootstrap', 'trello', 'github', '--workspace', workspace]);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/TRELLO_API_KEY +trello +needed +the key/);
  const printed = /\n(agents:\n[\s\S]*?)\n\nNext: /.exec(stderr)?.[1] ?? '';
  await write(workspace, 'quartermaster.yaml', printed);
  const env = valuesFor(byId('trello'));
  const configuration = await loadConfiguration({ env }, { workspace });
  expect(configuration.problems).toEqual([]);
  expect(configuration.agents.get('scribe')?.tools.get('trello')).toMatchObject({
    include: ['list_boards', 'list_cards'],
  });
  const explained = await runHere(['explain', 'trello.create_card', '--agent', 'scribe'], { cwd: workspace, env });
  expect(explained.stdout).toContain('trello.create_card is denied: it is not in the include list of agent scribe');
  expect(await readFile(join(workspace, 'ops/adk/servers/trello.yaml'), 'utf8')).toBe(presetText(byId('trello')));
});

function byId(id: string): Preset {
  const found = presets.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no preset ${id}`);
  return found;
}

/** A file without scopes says nothing of them; one with an empty list would grant nothing. */
function scopesOf({ scopes }: { readonly scopes: readonly string[] }): readonly string[] | undefined {
  return scopes.length === 0 ? undefined : scopes;
}
