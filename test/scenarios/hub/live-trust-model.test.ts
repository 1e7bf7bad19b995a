import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSilentLogger } from '../../../src/base/index.ts';
import { createManualClock } from '../../../src/base/manual-clock.fixture.ts';
import { loadWithSources } from '../../../src/config/index.ts';
import type { Configuration } from '../../../src/domain/index.ts';
import { createPolicyCompiler } from '../../../src/governance/index.ts';
import { LiveConfiguration } from '../../../src/hub/configuration/live-configuration.ts';
import { loadTrusted, type TrustMode } from '../../../src/workspace-trust/index.ts';
import { removeState, stateEnv } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { type Server, TrustModel } from './live-trust-model.fixture.ts';
import { approve, changesOf, deps } from './trust.fixture.ts';

const yaml = 'quartermaster.yaml';
const json = '.mcp.json';
const names = ['up', 'more'] as const;
const tools = ['read', 'write', 'drop'] as const;
const agents = ['bot', 'other'] as const;
const branches = ['main', 'topic'] as const;

interface Rules {
  readonly denied: readonly string[];
  readonly servers: readonly string[] | undefined;
}

/** Often one of a few, so that a version comes back. */
const rules: fc.Arbitrary<Rules> = fc.oneof(
  fc.constantFrom<Rules>(
    { denied: [], servers: undefined },
    { denied: ['up.write', 'more.drop'], servers: undefined },
    { denied: ['up.read'], servers: ['up'] },
  ),
  fc.record({
    denied: fc.subarray(
      names.flatMap((name) => tools.map((tool) => `${name}.${tool}`)),
      { maxLength: 3 },
    ),
    servers: fc.constantFrom(undefined, undefined, [...names], ['up'], []),
  }),
);

function rulesText({ denied, servers }: Rules): string {
  const policies = Object.fromEntries([['a.b', 'allow'], ...denied.map((tool) => [tool, 'deny'])]);
  const routes = servers === undefined ? {} : { agents: { bot: { servers } } };
  return JSON.stringify({ version: 1, ...routes, policies: { tools: policies } });
}

const servers: fc.Arbitrary<readonly Server[]> = fc
  .subarray([...names])
  .chain((chosen) =>
    fc.tuple(...chosen.map((name) => fc.constantFrom('x', 'y').map((command) => ({ name, command })))),
  );

function serversText(all: readonly Server[]): string {
  return JSON.stringify({ mcpServers: Object.fromEntries(all.map(({ name, command }) => [name, { command }])) });
}

/** `text` undefined: the file goes; empty: it is cut. */
type Step =
  | { readonly kind: 'rules'; readonly text: string | undefined; readonly event: boolean; readonly raceMs: number }
  | { readonly kind: 'servers'; readonly servers: readonly Server[] | undefined; readonly event: boolean }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'reload'; readonly files: readonly string[] | undefined }
  | { readonly kind: 'approve'; readonly what: 'all' | 'servers' }
  | { readonly kind: 'revoke'; readonly server: string }
  | { readonly kind: 'branch'; readonly branch: string };

const gone = fc.constantFrom(undefined, '');
const ruleSteps = fc.record({
  kind: fc.constant('rules' as const),
  text: fc.oneof({ weight: 3, arbitrary: rules.map(rulesText) }, { weight: 1, arbitrary: gone }),
  event: fc.boolean(),
  raceMs: fc.constantFrom(0, 0, 3000),
});
const serverSteps = fc.record({
  kind: fc.constant('servers' as const),
  servers: fc.oneof({ weight: 4, arbitrary: servers }, { weight: 1, arbitrary: fc.constant(undefined) }),
  event: fc.boolean(),
});
const timeSteps = fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1000, 2000, 3000, 6000) });
const reloadSteps = fc.record({
  kind: fc.constant('reload' as const),
  files: fc.constantFrom(undefined, [], [yaml], [json]),
});
const approveSteps = fc.record({
  kind: fc.constant('approve' as const),
  what: fc.constantFrom('all' as const, 'all' as const, 'servers' as const),
});
const revokeSteps = fc.record({ kind: fc.constant('revoke' as const), server: fc.constantFrom(...names) });
const branchSteps = fc.record({ kind: fc.constant('branch' as const), branch: fc.constantFrom(...branches) });

function stepsOf(mode: TrustMode): fc.Arbitrary<readonly Step[]> {
  const files: readonly fc.Arbitrary<Step>[] = [ruleSteps, ruleSteps, serverSteps, timeSteps, timeSteps, reloadSteps];
  const ofOperator =
    mode === 'all' ? [] : [approveSteps, approveSteps, approveSteps, branchSteps, branchSteps, revokeSteps];
  const steps = fc.array(fc.oneof(...files, ...ofOperator), { minLength: 4, maxLength: 14, size: 'max' });
  return mode === 'all' ? steps : fc.tuple(approveSteps, steps).map(([first, rest]) => [first, ...rest]);
}

type Allows = (agent: string, server: string, tool: string) => boolean;

function allowsIn(configuration: Configuration): Allows {
  const compile = createPolicyCompiler(configuration);
  return (agent, server, tool) => {
    const entry = configuration.servers.get(server);
    if (entry?.kind !== 'ready' || !entry.spec.enabled) return false;
    const rights = compile([agent]);
    const hints = { readOnly: undefined, destructive: undefined, idempotent: undefined };
    return (
      rights.seesServer(server) && rights.decide(server, tool, `${server}_${tool}`, hints as never).effect !== 'deny'
    );
  };
}

const known = new Map<string, Allows>();
const everything = serversText(names.map((name) => ({ name, command: 'x' })));

/** What these rules allow where both servers run. */
async function allowsBy(workspace: string, text: string): Promise<Allows> {
  const found = known.get(text);
  if (found !== undefined) return found;
  const texts = new Map([
    [json, { kind: 'text' as const, text: everything }],
    ...(text === '' ? [] : [[yaml, { kind: 'text' as const, text }] as const]),
  ]);
  const { configuration } = await loadWithSources({ env: {} }, { workspace, instead: texts, only: true });
  const allows = allowsIn(configuration);
  known.set(text, allows);
  return allows;
}

async function openWorld(mode: TrustMode, first: { readonly rules: string; readonly servers: readonly Server[] }) {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'qm-model-')));
  const write = (file: string, text: string | undefined): void => {
    if (text === undefined) rmSync(join(workspace, file), { force: true });
    else writeFileSync(join(workspace, file), text);
  };
  mkdirSync(join(workspace, '.git'));
  write('.git/HEAD', 'ref: refs/heads/main\n');
  write(yaml, first.rules);
  write(json, serversText(first.servers));
  const clock = createManualClock();
  const { load, disk, trust } = await loadTrusted(
    { ...deps, env: {}, loading: { env: {} } },
    { workspace, stateHome: stateEnv.QM_STATE_DIR, mode },
  );
  const live = new LiveConfiguration(
    { clock, logger: createSilentLogger(), emit: () => {}, load, trust, watch: undefined },
    { disk, files: { loaded: disk, retained: [], at: clock.now() }, judged: await trust.judge(disk) },
  );
  return {
    workspace,
    write,
    clock,
    live,
    async close() {
      live.close();
      await removeState(workspace);
      rmSync(workspace, { recursive: true });
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Waits for the looks before it, and takes up no file. */
async function flush({ live }: World, model: TrustModel): Promise<void> {
  await live.reload([]);
  model.takeUp({ rules: false, servers: false });
}

async function look(world: World, model: TrustModel): Promise<void> {
  world.live.follow();
  model.look(false);
  await flush(world, model);
}

async function take(step: Step, world: World, model: TrustModel): Promise<void> {
  const { live, clock, write, workspace } = world;
  switch (step.kind) {
    case 'rules': {
      model.disk.rules = step.text;
      write(yaml, step.text);
      if (!step.event) return;
      // A timer may fire while the files are being read.
      live.follow();
      clock.advance(step.raceMs);
      model.pass(step.raceMs);
      const isDue = model.isTimerDue;
      model.look(false);
      if (isDue) model.look(true);
      return await flush(world, model);
    }
    case 'servers':
      model.disk.servers = step.servers;
      write(json, step.servers && serversText(step.servers));
      return step.event ? await look(world, model) : undefined;
    case 'time':
      clock.advance(step.ms);
      model.pass(step.ms);
      if (model.isTimerDue) model.look(true);
      return await flush(world, model);
    case 'reload': {
      const { files } = step;
      const isTaken = await live.reload(files).then(
        () => true,
        () => false,
      );
      const isMeant = (file: string): boolean => files === undefined || files.includes(file);
      if (isTaken) model.takeUp({ rules: isMeant(yaml), servers: isMeant(json) });
      return;
    }
    case 'approve':
      await approve(workspace, ({ kind }) => step.what === 'all' || kind === 'server');
      model.approve(step.what);
      return await look(world, model);
    case 'revoke':
      await (await changesOf(workspace)).revoke([step.server]);
      model.revoke(step.server);
      return await look(world, model);
    case 'branch':
      write('.git/HEAD', `ref: refs/heads/${step.branch}\n`);
      model.branch = step.branch;
      return await look(world, model);
  }
}

interface Tally {
  allowed: number;
  withheld: number;
}

async function expectWithin({ live, workspace }: World, model: TrustModel, tally: Tally): Promise<void> {
  const allows = allowsIn(live.configuration);
  const onDisk = await allowsBy(workspace, model.rules);
  const trusted = await Promise.all(model.trustedRules.map((text) => allowsBy(workspace, text)));
  for (const name of names) {
    const entry = live.configuration.servers.get(name);
    const command =
      entry?.kind === 'ready' && entry.spec.transport.type === 'stdio' ? entry.spec.transport.command : '';
    for (const agent of agents) {
      for (const tool of tools) {
        const isTrusted = trusted.some((each) => each(agent, name, tool));
        if (!allows(agent, name, tool)) {
          if (onDisk(agent, name, tool) && !isTrusted) tally.withheld += 1;
          continue;
        }
        tally.allowed += 1;
        const what = `${agent} ${name}.${tool}`;
        expect(onDisk(agent, name, tool), `${what}: the files do not allow it`).toBe(true);
        expect(isTrusted, `${what}: no trusted rules allow it`).toBe(true);
        expect(model.mayRun({ name, command }), `${what}: ${command} may not run`).toBe(true);
      }
    }
  }
}

test.each<TrustMode>(['stored', 'all'])(
  verifies('trust:rights', '%s: whatever happens to the files, no agent exceeds what is trusted and what is on disk'),
  { timeout: 240_000 },
  async (mode) => {
    const tally: Tally = { allowed: 0, withheld: 0 };
    const start = fc.record({ rules: rules.map(rulesText), servers });
    await fc.assert(
      fc.asyncProperty(start, stepsOf(mode), async (first, steps) => {
        const world = await openWorld(mode, first);
        const model = new TrustModel(mode, names, first);
        try {
          for (const step of steps) {
            await take(step, world, model);
            await expectWithin(world, model, tally);
          }
        } finally {
          await world.close();
        }
      }),
      { numRuns: 60 },
    );
    // The steps reach both: what is allowed, and what only the trusted rules forbid.
    expect(tally.allowed).toBeGreaterThan(300);
    expect(tally.withheld).toBeGreaterThan(100);
  },
);
