import { createSystemClock, systemRandom } from '../../base/index.ts';
import { createMask } from './mask.ts';
import { programName } from './program-name.ts';
import { runCli } from './run-cli.ts';
import { createSignals } from './signals.ts';
import { createTerminal } from './terminal.ts';

/** The composition root: the one place where the process, its environment and its streams come in. */
export async function main(args: readonly string[]): Promise<number> {
  const { stdin, stdout, stderr, env } = process;
  const terminal = createTerminal({ stdout, stderr }, env);
  // Whichever way the process ends, the cursor is seen again.
  process.once('exit', () => terminal.live([]));
  const exitCode = await runCli(args, {
    env,
    cwd: process.cwd(),
    stdin,
    stdout,
    terminal,
    signals: createSignals(process),
    clock: createSystemClock(),
    random: systemRandom,
    mask: createMask(),
    program: programName(process.argv[1], process.cwd(), env.PATH),
  });
  // Whatever a server left open must not keep the terminal waiting.
  await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  return process.exit(exitCode);
}
