import { serverNames } from '../world/servers.mjs';
import { callTool } from './call-tool.mjs';

/** Calls that must be refused, or may be, by the configuration of the moment. */
export const refusedCalls = {
  denied: (world, actor) =>
    callTool(world, actor, { kind: 'denied', server: otherThanGit(world), tool: 'secret', expected: 'secret' }),

  approval: (world, actor) =>
    callTool(world, actor, { kind: 'approval', server: otherThanGit(world), tool: 'danger', expected: 'danger' }),

  'changing rule': (world, actor) =>
    callTool(world, actor, {
      kind: 'changing rule',
      server: otherThanGit(world),
      tool: 'toggled',
      expected: 'toggled',
    }),

  unknown: async (world, actor) => {
    world.tally.done('unknown');
    const outcome = await actor.request('tools/call', { name: `plain_no-${world.dice.between(1, 99)}`, arguments: {} });
    world.judge.judgeOther({ kind: 'unknown', actor, server: 'nobody', began: 0, refused: true }, outcome);
  },

  /** Tokens that were revoked, and one that never was. */
  'bad token': async (world) => {
    world.tally.done('bad token');
    const token = world.dice.pick([...world.tokens.revoked.slice(-5), { token: 'qm_nobody_0000' }]);
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const response = await fetch(`${world.origin}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        connection: 'close',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    await response.arrayBuffer();
    if (response.status === 401) world.tally.right('bad token');
    else world.tally.wrong('bad token', `token ${token.id} got ${response.status}`);
  },
};

function otherThanGit({ dice }) {
  return dice.pick(serverNames.filter((name) => name !== 'git'));
}
