import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { clients } from './clients/index.mjs';
import { type ConnectedRuns, judgeConnected, runConnected } from './connected-agent.mjs';

/** The two that cost least to install and to run; `npm run test:agents -- --connect` runs all five. */
const everyday = ['copilot', 'gemini'];

test.each(everyday)(
  verifies(
    'connect:direct',
    '%s, connected in a home that nobody has used, has the tools of the hub at its first turn and no others',
  ),
  async (name) => {
    const client = clients.find((each) => each.name === name);
    if (client === undefined) throw new Error(`no agent is called ${name}`);
    const { problems, first } = await runConnected(client);
    expect(problems).toEqual([]);
    expect(first).toHaveLength(1);
  },
  // Two runs of an agent, each with a deadline of its own.
  400_000,
);

test('the agents of every day are those of test:agents', () => {
  const versionsIn = (folder: string): Record<string, string> =>
    (
      JSON.parse(readFileSync(join(import.meta.dirname, folder, 'package.json'), 'utf8')) as {
        dependencies: Record<string, string>;
      }
    ).dependencies;
  const [all, some] = [versionsIn('.'), versionsIn('../programs')];
  const shared = Object.keys(all).filter((name) => name in some);
  expect(shared).toEqual(['@github/copilot', '@google/gemini-cli']);
  for (const name of shared) expect(some[name]).toBe(all[name]);
});

const tools = { hub: 'hub_parrot_echo', direct: 'parrot_echo' };
const ended = { code: 0, isLate: false, output: '', ms: 1200 };
const turn = (names: string[], results: string[] = []) => ({ atMs: 1, tools: names, results });

function runs(change: Partial<ConnectedRuns> = {}): ConnectedRuns {
  return {
    alone: { ...ended, turns: [turn(['parrot_echo'])] },
    connected: { ...ended, turns: [turn(['hub_parrot_echo']), turn(['hub_parrot_echo'], ['parrot_echo'])] },
    doctor: '{}',
    before: ['a'],
    after: ['a'],
    ...change,
  };
}

test('an agent that still has its own entry, does not have the hub, or is not as before has a problem', () => {
  expect(judgeConnected(tools, runs())).toEqual({ first: ['hub_parrot_echo'], seconds: 1.2, problems: [] });
  const problems = (change: Partial<ConnectedRuns>): readonly string[] => judgeConnected(tools, runs(change)).problems;
  expect(problems({ alone: { ...ended, turns: [turn([])] } })).toEqual(['parrot_echo was not offered before']);
  expect(problems({ connected: { ...ended, turns: [turn(['parrot_echo'])] } })).toEqual([
    'hub_parrot_echo was not offered at the first turn: parrot_echo',
    'parrot_echo is still offered',
    'hub_parrot_echo was not answered',
  ]);
  expect(problems({ doctor: 'reaches server parrot without the hub' })).toEqual(['doctor reports it']);
  expect(problems({ after: ['b'] })).toEqual(['its files are not as they were']);
  expect(problems({ connected: { ...ended, code: 1, output: 'no key', turns: [] } })[0]).toBe(
    'connected: ended with 1: no key',
  );
});
