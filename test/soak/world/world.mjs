import { createPopulation } from '../clients/population.mjs';
import { createJudge } from '../operations/judge.mjs';
import { compareWithAuditLog } from '../report/audit.mjs';
import { createTally } from '../report/tally.mjs';
import { agentNames, expectedLists } from './agents.mjs';
import { createAuditTrail } from './audit-trail.mjs';
import { createConfiguration } from './configuration.mjs';
import { createDice } from './dice.mjs';
import { startHttpUpstreams } from './http-upstreams.mjs';
import { createHubProcess } from './hub.mjs';
import { childrenOf, isAlive } from './processes.mjs';
import { createTokens } from './tokens.mjs';
import { createTroubles } from './troubles.mjs';
import { eventually, pause, within } from './within.mjs';
import { createWorkspace } from './workspace.mjs';

/** Everything that the operations and the chaos act on. */
export async function openWorld({ seed, isLong, print }) {
  const dice = createDice(seed);
  const tally = createTally(print);
  const troubles = createTroubles();
  const clientSessionIdleSeconds = isLong ? 60 : 10;
  const workspace = createWorkspace({ clientSessionIdleSeconds });
  const hub = createHubProcess(workspace);
  const upstreams = await startHttpUpstreams(workspace.executed);
  const configuration = createConfiguration(workspace, upstreams.urls);
  const ledger = new Map();
  const trail = createAuditTrail({ hub, workspace });
  let lastNonce = 0;
  let hasEnded = false;
  let isStopping = false;

  const world = {
    dice,
    tally,
    troubles,
    workspace,
    hub,
    upstreams,
    configuration,
    tokens: createTokens(hub),
    judge: createJudge({ tally, troubles, configuration, ledgerOf: (nonce, call) => void ledger.set(nonce, call) }),
    nonce: ({ name }) => `n${++lastNonce}-${name}`,
    isOver: () => hasEnded,

    /** Runs `work` and ends everything that was started, whatever happens. */
    async use(work) {
      // A defect of the soak costs its verdict, and never leaves processes behind.
      process.on('unhandledRejection', (error) => tally.wrong('soak', String(error?.stack ?? error)));
      process.once('exit', () => {
        hub.kill('SIGKILL');
        upstreams.end();
      });
      try {
        return await work();
      } finally {
        isStopping = true;
        await stopHub(world);
        upstreams.end();
      }
    },

    /** Until every agent has seen all it may see. */
    async warmUp() {
      configuration.write();
      world.origin = await hub.start();
      void hub.ended.then((how) => {
        hasEnded = true;
        if (!isStopping) tally.wrong('hub', `it ended by itself: ${JSON.stringify(how)}`);
      });
      for (const agent of agentNames) await world.tokens.issue(agent);
      await world.tokens.issue('lead', 'leaver');
      world.population = createPopulation(world);
      await world.population.fillAll();
      for (const { actor } of world.population.slots) {
        if (actor === undefined || actor.client.kind === 'stdio') continue;
        const expected = expectedLists(actor.agent, configuration.current());
        const isComplete = await eventually(() => seesAll(actor, expected), 60_000);
        if (!isComplete) tally.wrong('warm-up', `${actor.name} (${actor.client.kind}) never saw everything`);
      }
    },

    /** Until the sessions of clients that left have expired. */
    async rest(sampling) {
      print('soak: rests, until abandoned sessions have expired');
      await pause((clientSessionIdleSeconds + 30) * 1000);
      await sampling.take();
      return sampling.samples.at(-1);
    },

    async audit() {
      const callLines = await trail.callLines().catch((error) => {
        tally.wrong('audit', String(error));
        return [];
      });
      return compareWithAuditLog({ executedFile: workspace.executed, callLines, ledger });
    },
  };
  return world;
}

async function seesAll(actor, expected) {
  const { result } = await actor.request('tools/list', {});
  const names = new Set(result?.tools.map(({ name }) => name));
  return expected.tools.every((name) => names.has(name));
}

/** SIGTERM, and nothing that it started is left five seconds after its end. */
async function stopHub({ hub, tally }) {
  if (hub.pid === undefined || !isAlive(hub.pid)) return;
  const children = childrenOf(hub.pid).map(({ pid }) => pid);
  tally.done('stop');
  hub.kill('SIGTERM');
  const how = await within(hub.ended, 20_000, 'the hub to end').catch(() => undefined);
  if (how === undefined) {
    hub.kill('SIGKILL');
    tally.wrong('stop', 'the hub did not end within 20 s of SIGTERM');
  } else if (how.code !== 0) tally.wrong('stop', `the hub ended with ${JSON.stringify(how)}`);
  await eventually(() => !children.some(isAlive), 5000);
  const left = children.filter(isAlive);
  if (left.length > 0) tally.wrong('stop', `${left.length} processes are left after the hub`);
  else tally.right('stop');
}
