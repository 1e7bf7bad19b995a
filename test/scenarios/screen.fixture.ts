import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createSystemClock, systemRandom } from '../../src/base/index.ts';
import { runCli } from '../../src/faces/cli/run-cli.ts';
import { createSignals } from '../../src/faces/cli/signals.ts';
import { createMask } from '../../src/faces/cli/terminal/mask.ts';
import { createTerminal } from '../../src/faces/cli/terminal/terminal.ts';
import { stateEnv } from '../support/state-home.ts';

/** A command inside this process, whose output is a terminal of a known size. */
export interface OnScreen {
  readonly ended: Promise<number>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** As a person at the keyboard would. */
  type(keys: string): void;
  /** As the operating system would deliver it. */
  signal(name: 'SIGINT' | 'SIGTERM'): void;
}

export function runOnScreen(
  args: readonly string[],
  options: { readonly workspace: string; readonly columns: number; readonly env?: Readonly<Record<string, string>> },
): OnScreen {
  const { workspace, columns } = options;
  const env = { PATH: process.env.PATH, HOME: workspace, TERM: 'xterm', ...stateEnv, ...options.env };
  const [stdout, stderr] = [screen(columns), screen(columns)];
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const listeners = new Map<string, (error: unknown) => void>();
  const ended = runCli([...args, '--workspace', workspace], {
    env,
    cwd: workspace,
    stdin,
    stdout: stdout.stream,
    terminal: createTerminal({ stdout: stdout.stream, stderr: stderr.stream }, env),
    signals: createSignals(
      {
        on: (event: string, listener: (error: unknown) => void) => listeners.set(event, listener),
        exit() {
          throw new Error('one signal must be enough');
        },
      },
      createSystemClock(),
    ),
    clock: createSystemClock(),
    random: systemRandom,
    mask: createMask(),
    program: 'qm',
    self: [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'qm')],
    tellParent() {},
  });
  return {
    ended,
    stdout: stdout.text,
    stderr: stderr.text,
    type: (keys) => stdin.write(keys),
    signal: (name) => listeners.get(name)?.(undefined),
  };
}

function screen(columns: number): { readonly stream: PassThrough; readonly text: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 24 });
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { stream, text: () => text };
}
