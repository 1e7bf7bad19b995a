import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { Call, type CallResult } from '../../../src/calls/index.ts';
import type { Caller } from '../../../src/domain/index.ts';
import { openConfigurationSource } from '../../../src/hub/configuration/configuration-source.ts';
import { createEventEmitter } from '../../../src/hub/events/event-emitter.ts';
import type { HubEvent } from '../../../src/hub/events/hub-event.ts';
import { openProcessParts } from '../../../src/hub/process-parts.ts';
import { openProject, type Project } from '../../../src/hub/project.ts';
import { readCalls } from '../../../src/ledger/index.ts';
import { stdioServer } from '../../support/hub.ts';
import { ledgerOf, stateEnv } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

const deps = { clock: createSystemClock(), random: systemRandom, logger: createSilentLogger(), env: process.env };
const secrets = ['secret-of-the-first', 'secret-of-the-second'];

/** The same server name in both, with a secret, hidden tools and a rate of its own. */
function configuration(secret: string, hidden: string): object {
  const settings = { env: { API_TOKEN: secret }, excludeTools: [hidden], cache: { ttl_s: 60, tools: ['env'] } };
  return {
    servers: { up: stdioServer('echo-stdio.mjs', [], { ...settings, limits: { rate_per_min: 4 } }) },
    agents: { tester: {} },
  };
}

async function folder(config: object): Promise<string> {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-project-'));
  onTestFinished(() => rm(workspace, { recursive: true, force: true, maxRetries: 3 }));
  await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify(config));
  return workspace;
}

const noSecrets = { file: 'none', values: async () => new Map<string, string>() };

async function openBoth() {
  const workspaces = [
    await folder(configuration('secret-of-the-first', 'add')),
    await folder(configuration('secret-of-the-second', 'fail')),
  ];
  const events: HubEvent[] = [];
  const emitter = createEventEmitter(deps);
  emitter.on((event) => events.push(event));
  const sources = await Promise.all(
    workspaces.map((workspace, index) =>
      openConfigurationSource(
        { ...deps, emit: emitter.forProject(`p${index}`), secrets: noSecrets },
        { workspace, stateHome: stateEnv.QM_STATE_DIR, watch: false, trust: 'all' },
      ),
    ),
  );
  const [first] = sources;
  if (first === undefined) throw new Error('There are two.');
  const parts = await openProcessParts(deps, first.configuration, await folder({}));
  const projects = await Promise.all(
    sources.map((source, index) => {
      const name = `p${index}`;
      const options = {
        name,
        source,
        emit: emitter.forProject(name),
        discover: false,
        isStopping: () => false,
        approvals: undefined,
      };
      return openProject(deps, parts, options);
    }),
  );
  onTestFinished(async () => {
    for (const source of sources) source.close();
    await within(Promise.all(projects.map((project) => project.close())), 'the projects to close');
    await parts.close();
  });
  const callerOf = (index: number): Caller => {
    const project = `p${index}`;
    const account = parts.accounts.of('tester', project);
    return { agent: 'tester', project, chain: ['tester'], tokenId: undefined, run: `run-${project}`, account };
  };
  return { workspace: workspaces[0] ?? '', projects, parts, events, callerOf };
}

async function call(project: Project | undefined, caller: Caller, tool: string, args: object): Promise<string> {
  const argumentsText = JSON.stringify(args);
  const base = { kind: 'tool', meta: '', channel: undefined } as const;
  const request = { ...base, caller, name: `up_${tool}`, argumentsText, args };
  const outcome: CallResult | undefined = await project?.runCall(new Call(request));
  if (outcome?.kind === 'result') return outcome.result.text;
  return outcome?.kind === 'failed' ? outcome.error.code : 'an error';
}

test(verifies('hub:project', 'two projects with the same names in one process share nothing that callers see'), {
  timeout: 60_000,
}, async () => {
  const { workspace, projects, parts, events, callerOf } = await openBoth();
  await Promise.all(projects.map(({ pool }) => pool.discover()));
  const names = projects.map(({ views }, index) => [...views.of(callerOf(index).chain).entries.keys()]);
  expect(names.map((each) => [each.includes('up_add'), each.includes('up_fail')])).toEqual([
    [false, true],
    [true, false],
  ]);

  // Connections and caches: the second call of each is answered from its own cache.
  for (let round = 0; round < 2; round++) {
    for (const [index, project] of projects.entries()) {
      expect(await call(project, callerOf(index), 'env', { name: 'API_TOKEN' })).toContain(secrets[index]);
    }
  }

  // Limits: what one project spends, the other still has.
  const spent: string[] = [];
  for (let count = 0; count < 4; count++) {
    spent.push(await call(projects[0], callerOf(0), 'echo', { message: `${count}` }));
  }
  expect(spent.at(-1)).toBe('RATE_LIMITED');
  expect(await call(projects[1], callerOf(1), 'echo', { message: 'hi' })).toContain('hi');
  expect(callerOf(0).account).not.toBe(callerOf(1).account);

  // Records: each call in the run of its caller, and no secret of either project in any text.
  const lines = await eventually(async () => {
    const all = await readCalls(ledgerOf(workspace));
    return all.length === 9 && all.every(({ outcome }) => outcome !== 'open') ? all : undefined;
  }, 'the calls of both');
  expect(lines.filter(({ run_id }) => run_id === 'run-p1')).toHaveLength(3);
  for (const secret of secrets) expect(parts.redaction.said(`it was ${secret}`)).not.toContain(secret);

  // Events name their project.
  for (const project of ['p0', 'p1']) {
    const own = events.filter((event) => 'project' in event && event.project === project);
    expect(own.some(({ type }) => type === 'catalog.changed')).toBe(true);
  }
});
