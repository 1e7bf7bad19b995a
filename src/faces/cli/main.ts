import { createSystemClock, systemRandom } from '../../base/index.ts';
import { programName } from './program-name.ts';
import { runCli } from './run-cli.ts';
import { createSignals } from './signals.ts';
import { createMask } from './terminal/mask.ts';
import { createTerminal } from './terminal/terminal.ts';

/** The composition root: the only place that accesses the process, its environment and its streams. */
export async function main(args: readonly string[]): Promise<number> {
  const { stdin, stdout, stderr, env } = process;
  const terminal = createTerminal({ stdout, stderr }, env);
  // Shows the cursor again, however the process ends.
  process.once('exit', () => terminal.live([]));
  const clock = createSystemClock();
  const exitCode = await runCli(args, {
    env,
    cwd: process.cwd(),
    stdin,
    stdout,
    terminal,
    signals: createSignals(process, clock),
    clock,
    random: systemRandom,
    mask: createMask(),
    program: programName(process.argv[1], process.cwd(), env.PATH),
    self: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
    tellParent(message) {
      if (process.connected) process.send?.(message, undefined, undefined, () => process.disconnect());
    },
  });
  // Exit explicitly, so that anything a server left open does not keep the process alive.
  await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  return process.exit(exitCode);
}
