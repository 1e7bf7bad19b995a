import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createSystemClock, systemRandom } from '../../src/base/index.ts';
import type { CliProcess } from '../../src/faces/cli/context.ts';
import { runCli } from '../../src/faces/cli/run-cli.ts';
import { createSignals, type SignalSource } from '../../src/faces/cli/signals.ts';
import { createMask } from '../../src/faces/cli/terminal/mask.ts';
import { createTerminal, type TerminalStream } from '../../src/faces/cli/terminal/terminal.ts';
import { stateEnv } from '../support/state-home.ts';
import type { QmResult } from './qm.fixture.ts';

export interface RunHereOptions {
  readonly cwd: string;
  /** The columns of a terminal; without it, output goes into a pipe. */
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command in this process: where many are tried, one process for each would take long. */
export async function runHere(args: readonly string[], options: RunHereOptions): Promise<QmResult> {
  const { context, stdout, stderr } = openHere(options);
  const code = await runCli(args, context);
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

/** What a command gets of its process. */
export function openHere({ cwd, columns, env: more }: RunHereOptions) {
  const env = { ...stateEnv, ...more };
  const [stdout, stderr] = [openStream(columns), openStream(columns)];
  const context: CliProcess = {
    env,
    cwd,
    stdin: new PassThrough(),
    stdout,
    terminal: createTerminal({ stdout, stderr }, env),
    signals: createSignals(noSignals, createSystemClock()),
    clock: createSystemClock(),
    random: systemRandom,
    mask: createMask(),
    program: 'qm',
    self: [process.execPath, join(import.meta.dirname, '..', '..', 'bin', 'qm')],
    tellParent() {},
  };
  return { context, stdout, stderr };
}

/** Those of the process that runs the tests are for it alone. */
const noSignals: SignalSource = {
  on() {},
  exit(code) {
    throw new Error(`a command wanted to end the process with ${code}`);
  },
};

function openStream(columns: number | undefined): PassThrough & TerminalStream {
  const stream = new PassThrough({ highWaterMark: 1 << 24 });
  return columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns, rows: 50 });
}
