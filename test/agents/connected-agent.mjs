/** Agents that `qm connect` connected: a home that nobody has used, and a server that npx has to install first. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { baseEnv, inFreshHome, programOf, runProgram } from './run-client.mjs';
import { isCalled, visitTools } from './scripts.mjs';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'qm');
const server = { command: 'npx', args: ['-y', join(import.meta.dirname, '..', 'servers', 'by-npx')] };
const run = promisify(execFile);
const deadlineMs = 150_000;

/**
 * One run of the agent with its own entry, one after `qm connect`, and its files after `qm disconnect`.
 *
 * @returns {Promise<{ first: string[], seconds: number, problems: string[] }>}
 */
export async function runConnected(client) {
  const { tools } = client.connected;
  const turnsOf = [];
  const script = (asked) => turnsOf.at(-1).take(asked);
  return inFreshHome(client.name, script, async ({ place, home, work, model }) => {
    const env = { ...baseEnv(home), QM_HUB_IDLE: '1' };
    const qm = (...args) => run(process.execPath, [bin, ...args], { cwd: work, env });
    const { args, env: own } = await client.connected.setUp({ home, work, model, prompt: 'Use the tool.', server });
    await writeFile(join(work, 'quartermaster.yaml'), JSON.stringify({ servers: { parrot: server } }));
    await run('git', ['init', '-q', work]);
    const start = async (wanted) => {
      const from = model.turns.length;
      turnsOf.push({ take: visitTools({ wanted: [wanted], meanwhile: [], rounds: 0, pauseMs: 0 }) });
      const options = { cwd: work, env: { ...env, ...own } };
      const ended = await runProgram(programOf(client), args, options, AbortSignal.timeout(deadlineMs));
      return { ...ended, turns: model.turns.slice(from) };
    };
    const texts = async () =>
      Promise.all(client.connected.files.map((file) => readFile(join(place, file), 'utf8').catch(() => undefined)));
    try {
      const alone = await start(tools.direct.replaceAll('-', '_'));
      const before = await texts();
      await qm('connect', client.name, '--agent', 'tester', '--yes', '--trust', '--no-wait');
      const connected = await start('parrot_echo');
      const doctor = await qm('doctor', '--json');
      await qm('disconnect', client.name, '--yes');
      return judgeConnected(tools, { alone, connected, doctor: doctor.stdout, before, after: await texts() });
    } finally {
      await qm('stop');
    }
  });
}

/** The agent uses its own entry before, and at its first turn afterwards only the hub's. */
export function judgeConnected(tools, { alone, connected, doctor, before, after }) {
  const first = connected.turns[0]?.tools ?? [];
  const ends = Object.entries({ alone, connected }).flatMap(([which, { code, isLate, output }]) =>
    code === 0 ? [] : [`${which}: ended with ${isLate ? 'the deadline' : code}: ${output.slice(-500)}`],
  );
  const results = connected.turns.at(-1)?.results ?? [];
  return {
    first: first.filter((name) => name === tools.hub || name === tools.direct),
    seconds: Math.round(connected.ms / 100) / 10,
    problems: [
      ...ends,
      ...((alone.turns[0]?.tools ?? []).includes(tools.direct) ? [] : [`${tools.direct} was not offered before`]),
      ...(first.includes(tools.hub) ? [] : [`${tools.hub} was not offered at the first turn: ${first.join(' ')}`]),
      ...(first.includes(tools.direct) ? [`${tools.direct} is still offered`] : []),
      ...(isCalled(results, 'parrot_echo') ? [] : [`${tools.hub} was not answered`]),
      ...(doctor.includes('without the hub') ? ['doctor reports it'] : []),
      ...(before.every((text, index) => text === after[index]) ? [] : ['its files are not as they were']),
    ],
  };
}
