const never = new Promise(() => {});

/**
 * How a server behaves: `before` and `during` are run around the line that says that a call was executed, and
 * `during` may keep the call from ever being answered.
 */
export function createManner(name, { stdio }) {
  const manners = { plain: {}, crashes, hangs, floods, garbage };
  const manner = manners[name];
  if (manner === undefined) throw new Error(`No such manner: ${name}`);
  if (!stdio && (name === 'floods' || name === 'garbage')) throw new Error(`${name} needs --stdio`);
  return manner;
}

/** Dies before a call counts as executed, after that, or in the middle of its answer. */
const crashes = {
  before() {
    if (happens(0.01)) process.kill(process.pid, 'SIGKILL');
  },
  during() {
    if (happens(0.01)) process.kill(process.pid, 'SIGKILL');
    if (!happens(0.01)) return undefined;
    process.stdout.write('{"jsonrpc":"2.0","id":1,"resu', () => process.exit(1));
    return never;
  },
};

const hangs = { during: () => (happens(0.03) ? never : undefined) };

/** Announces changes all the time; some are true. */
const floods = {
  start(board, label) {
    const changed = ['tools', 'prompts', 'resources'].map((what) => line(`notifications/${what}/list_changed`));
    setInterval(() => process.stdout.write(changed.join('').repeat(5)), 250).unref();
    setInterval(() => void board.touch(`memo://${label}/note`), 1000).unref();
  },
};

const noise = Buffer.concat([
  Buffer.from(
    'Listening on port 3000\n{"jsonrpc":"2.0","id":\n\n[]\nnull\n42\n{"jsonrpc":"2.0","id":"nobody","result":{}}\n',
  ),
  Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]),
]);

const garbage = {
  during() {
    if (happens(0.1)) process.stdout.write(noise);
    if (happens(0.05)) process.stderr.write(`${'noise '.repeat(2_000)}\n`);
    return undefined;
  },
};

function line(method) {
  return `${JSON.stringify({ jsonrpc: '2.0', method })}\n`;
}

/** Not from the seed: how often a server is called depends on time anyway. */
function happens(chance) {
  return Math.random() < chance;
}
