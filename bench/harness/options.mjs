import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const measurements = ['speed', 'memory', 'list', 'rules', 'sessions', 'ready', 'change'];

export const usage = `npm run bench -- [what] [options]

what (default: --speed)
  --speed          calls per second, latency and CPU beside a bare hop and other gateways
  --memory         resident memory over 100,000 calls
  --list           tools/list of 1,000 tools, and what servers, tools, rules and agents cost a call
  --rules          one decision with 10, 100 and 10,000 rules on arguments, and calls with them beside a bare hop
  --sessions       memory of 1,000 abandoned client sessions, and after they expired
  --ready          time from the start of the process to the line that says it serves
  --change         longest stall of the event loop, and memory, when one tool of 1,000 is added with 200 clients
                   listening; --before FILE measures an earlier build too
  --all            all of these

options
  --quick          a few hundred calls: shows that everything works, measures nothing
  --rounds N       interleaved rounds (5)
  --n N            calls per round and contender (10000); with --memory, calls in all (100000)
  --bytes LIST     payload sizes (32,10240)
  --c LIST         calls in flight (1,32)
  --only LIST      contenders whose name starts with one of these
  --qm FILE        the program to measure (bin/qm)
  --before FILE    an earlier build's bin/qm, measured in the same rounds as before-stdio, before-rules, before-http
  --json FILE      every figure of every round
  --help           this text
`;

/** Throws a TypeError for what it does not know. */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: flags });
  const chosen = measurements.filter((name) => values.all || values[name]);
  const sizes = values.quick ? quickSizes : fullSizes;
  const qm = resolve(values.qm ?? fileURLToPath(new URL('../../bin/qm', import.meta.url)));
  return {
    help: values.help === true,
    measure: chosen.length === 0 ? ['speed'] : chosen,
    ...sizes,
    rounds: count(values.rounds, 'rounds') ?? sizes.rounds,
    calls: count(values.n, 'n') ?? sizes.calls,
    memoryCalls: count(values.n, 'n') ?? sizes.memoryCalls,
    bytes: list(values.bytes ?? '32,10240', 'bytes'),
    inFlight: list(values.c ?? '1,32', 'c'),
    only: values.only?.split(','),
    qm,
    before: values.before && resolve(values.before),
    json: values.json,
  };
}

const flags = {
  ...Object.fromEntries([...measurements, 'all', 'quick', 'help'].map((name) => [name, { type: 'boolean' }])),
  ...Object.fromEntries(
    ['rounds', 'n', 'bytes', 'c', 'only', 'qm', 'before', 'json'].map((name) => [name, { type: 'string' }]),
  ),
};

const fullSizes = {
  rounds: 5,
  calls: 10_000,
  memoryCalls: 100_000,
  lists: 1000,
  decisions: 1_000_000,
  sessions: 1000,
  sessionIdleSeconds: 20,
  starts: 11,
  clients: 200,
};

const quickSizes = {
  rounds: 1,
  calls: 300,
  memoryCalls: 2000,
  lists: 50,
  decisions: 10_000,
  sessions: 100,
  sessionIdleSeconds: 5,
  starts: 3,
  clients: 20,
};

function list(text, name) {
  return text.split(',').map((part) => count(part, name));
}

function count(text, name) {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new TypeError(`--${name} takes whole numbers from 1, not "${text}".`);
}
