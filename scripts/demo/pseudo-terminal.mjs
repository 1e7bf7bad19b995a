import { spawn } from 'node:child_process';

const limitMs = 60_000;
/** Node has no pseudo-terminals, and Python has. */
const relay = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';

/**
 * Runs a command as at a terminal of this size.
 * @param {string} command
 * @param {{ cwd: string, env: Record<string, string | undefined>, columns: number, rows: number }} terminal
 */
export function startInTerminal(command, { cwd, env, columns, rows }) {
  const script = `stty cols ${columns} rows ${rows}; exec ${command}`;
  const child = spawn('python3', ['-c', relay, 'sh', '-c', script], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  const listeners = new Set();
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    for (const listener of listeners) listener();
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', () => reject(new Error('python3 cannot be started; it is needed for the pseudo-terminal.')));
    child.once('close', resolve);
  });

  function said(words) {
    return within(
      new Promise((resolve, reject) => {
        const look = () => text.includes(words) && resolve();
        listeners.add(look);
        look();
        ended.then(() => reject(new Error(`${command} ended without "${words}":\n${text}`)), reject);
      }),
      `${command} to say "${words}"`,
    );
  }

  return {
    output: () => text,
    said,
    ended: within(ended, `${command} to end`),
    type: (keys) => child.stdin.write(keys),
    async stop() {
      child.stdin.write('\x03');
      await ended;
    },
  };
}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${limitMs / 1000} s for ${what}`)), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
