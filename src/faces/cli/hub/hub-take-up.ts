import { sleep, toHubError } from '../../../base/index.ts';
import type { ServersBody } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { findHub } from './find-hub.ts';
import { hubWords } from './hub-words.ts';

type Status = ServersBody['servers'][number];

/** Whether the running hub has applied a change; null if none runs. */
export type TakeUp = { readonly url: string; readonly applied: boolean } | null;

/** A hub of another version may wait until files stop changing before it reads them. */
const patienceMs = 5000;

export interface Change {
  readonly server: string;
  /** The written files. The operator did not ask to apply changes in other files. */
  readonly files: readonly string[];
  isThere(status: Status | undefined): boolean;
}

/** Tells the running hub about the operator's change and waits until it takes effect. */
export async function awaitTakeUp(cli: CliContext, workspace: string, change: Change): Promise<TakeUp> {
  const { clock, terminal } = cli;
  const { server: name, files } = change;
  const hub = await findHub(cli, workspace).catch(() => undefined);
  if (hub === undefined) return null;
  const deadline = clock.monotonic() + patienceMs;
  const stop = cli.signals.graceful();
  terminal.progress(`Waiting for the ${hubWords(hub.url)} …`);
  try {
    if (files.length > 0) await hub.reload(files);
    for (;;) {
      const { servers } = await hub.servers();
      if (change.isThere(servers.find((each) => each.name === name))) return { url: hub.url, applied: true };
      if (clock.monotonic() >= deadline || stop.aborted) return { url: hub.url, applied: false };
      await sleep(clock, 100, stop);
    }
  } catch (error) {
    terminal.err(`${terminal.errColours.yellow('warning')} ${toHubError(error).message}`);
    return { url: hub.url, applied: false };
  } finally {
    terminal.progress('');
  }
}

/** One sentence about the result, if a hub runs. */
export function takeUpLine(hub: TakeUp): string | undefined {
  if (hub === null) return undefined;
  if (!hub.applied) return `The ${hubWords(hub.url)} has not applied the change yet; see its log.`;
  // Nobody started that one on purpose.
  return hub.url.startsWith('unix:') ? undefined : `The ${hubWords(hub.url)} has applied the change.`;
}
