/** Agents whose call is held for approval: a person decides from outside, and the agent finishes its task. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findTool } from './models/scripted-model.mjs';
import { runClient } from './run-client.mjs';
import { makeWorkspace } from './served-hub.mjs';

const servers = {
  gate: { command: process.execPath, args: [join(import.meta.dirname, '..', 'servers', 'echo-stdio.mjs')] },
};
const policies = { tools: { 'gate.*': 'require-approval' } };
const message = 'approved-7421';
const mostCalls = 20;

export const approvalScenarios = [
  { name: 'decides after 70 s, while the call waits', settings: { policies }, calls: 1, decidesAfterMs: 70_000 },
  // The person decides only after the agent was answered that the call is pending.
  {
    name: 'decides after the wait of 3 s',
    settings: { policies, approvals: { wait: '3s' } },
    calls: 2,
    decidesAfterMs: 0,
  },
];

/** @returns {Promise<{ calls: number, seconds: number, problems: string[] }>} */
export async function runApproved({ client, scenario }) {
  const workspace = await makeWorkspace(servers, scenario.settings);
  const ended = new AbortController();
  try {
    const hub = await workspace.serve();
    try {
      const decided = decide(workspace, scenario, ended.signal);
      const run = await runClient({ client, server: hub, script: callUntilDone, deadlineMs: 240_000 });
      ended.abort();
      await decided;
      const calls = JSON.parse(`[${(await workspace.qm('calls', '--json')).trim().split('\n').join(',')}]`);
      return judgeApproved(scenario, run, calls.flat());
    } finally {
      await hub.stop();
    }
  } finally {
    ended.abort();
    await workspace.remove();
  }
}

/** The same call again as long as it is pending. */
async function callUntilDone({ tools, results }) {
  if (results.some((text) => text.includes(message))) return { say: 'Done.' };
  const tool = findTool(tools, 'gate_echo');
  if (tool === undefined || results.length >= mostCalls) return { say: 'Given up.' };
  if (results.length > 0) await pause(2000);
  return { call: { tool, args: { message } } };
}

/** The person, at a terminal of their own. */
async function decide({ qm }, { calls, decidesAfterMs }, signal) {
  while (!signal.aborted) {
    const [open] = JSON.parse(await qm('approvals', 'ls', '--json'));
    const isAnswered = calls === 1 || (await qm('calls', '--json')).includes('"pending"');
    if (open !== undefined && isAnswered) {
      await pause(decidesAfterMs);
      await qm('approvals', 'approve', open.id);
      return;
    }
    await pause(300);
  }
}

/** The tool ran once, with the approval; before that the agent was told that the call is pending, or waited. */
export function judgeApproved({ calls: least }, { code, isLate, output, turns, ms }, lines) {
  const outcomes = lines.map(({ outcome }) => outcome);
  const results = turns.at(-1)?.results ?? [];
  const isAsExpected = least === 1 ? outcomes.length === 1 : outcomes.includes('pending');
  return {
    calls: outcomes.length,
    seconds: Math.round(ms / 100) / 10,
    problems: [
      ...(code === 0 ? [] : [`ended with ${isLate ? 'the deadline' : code}: ${output.slice(-500)}`]),
      ...(results.some((text) => text.includes(message)) ? [] : ['the tool was not answered']),
      ...(outcomes.filter((outcome) => outcome === 'ok').length === 1 ? [] : [`outcomes: ${outcomes.join(', ')}`]),
      ...(isAsExpected ? [] : [`calls: ${outcomes.join(', ')}`]),
    ],
  };
}
