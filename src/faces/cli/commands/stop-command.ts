import { Command } from 'commander';
import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { StopAnswer } from '../json-shapes.ts';

export function stopCommand(cli: CliContext): Command {
  return new Command('stop')
    .description('stop the hub of this workspace; calls in flight finish first')
    .addHelpText('after', helpExamples('qm stop', 'qm stop --workspace ../team'))
    .action((_options, command: Command) => stopHub(cli, readInvocation(command, cli)));
}

/** Longer than a hub gives its calls in flight. */
const stopMs = 90_000;
const pollMs = 50;

async function stopHub(cli: CliContext, invocation: Invocation): Promise<void> {
  const { clock, terminal } = cli;
  const [{ readServeFile }, { stateLayout }, { attachToHub }, { readOutcome }, { sleep }] = await Promise.all([
    import('../../../storage/index.ts'),
    import('../hub/state-layout.ts'),
    import('../hub/attach-to-hub.ts'),
    import('../../attach/index.ts'),
    import('../../../base/index.ts'),
  ]);
  const layout = stateLayout(cli, invocation.workspace);
  const found = await readServeFile(layout);
  const order = { agent: 'operator', operation: { name: 'stop', params: {} } };
  const attached = found === undefined ? undefined : await attachToHub(cli, invocation, order);
  if (attached !== undefined) {
    await readOutcome(attached, clock, { maxBytes: 64 * 1024, timeoutMs: 5000 });
    terminal.progress('Waiting for calls in flight …');
    const deadline = clock.monotonic() + stopMs;
    const stop = cli.signals.graceful();
    while ((await isRunning(found?.pid)) && clock.monotonic() < deadline) {
      await sleep(clock, pollMs, stop);
      if (stop.aborted) throw new HubError('CANCELLED', 'The hub still finishes its calls, then it ends.');
    }
    terminal.progress('');
  }
  const text = attached === undefined ? 'No hub is running here.' : `Stopped the hub (process ${attached.pid}).`;
  const answer: StopAnswer = { stopped: attached?.pid ?? null };
  if (invocation.json) terminal.out(JSON.stringify(answer));
  else terminal.err(text);
}

async function isRunning(pid: number | undefined): Promise<boolean> {
  const { answersSignals } = await import('../../../base/index.ts');
  return pid !== undefined && answersSignals(pid);
}
