import { sleep, toHubError } from '../../base/index.ts';
import type { ServersBody } from '../api/index.ts';
import type { CliContext } from './context.ts';
import { findHub } from './find-hub.ts';

type Status = ServersBody['servers'][number];

/** What became of a change at the running hub; null where none runs. */
export type TakeUp = { readonly url: string; readonly tookUp: boolean } | null;

/** A hub of another version may wait for files to be quiet before it reads them. */
const patienceMs = 5000;

export interface Change {
  readonly server: string;
  /** What was written. What other files say meanwhile is none of the operator's act. */
  readonly files: readonly string[];
  isThere(status: Status | undefined): boolean;
}

/** Tells the running hub of a change that the operator made, and waits until it shows. */
export async function awaitTakeUp(cli: CliContext, workspace: string, change: Change): Promise<TakeUp> {
  const { clock, terminal } = cli;
  const { server: name, files } = change;
  const hub = await findHub(workspace).catch(() => undefined);
  if (hub === undefined) return null;
  const deadline = clock.monotonic() + patienceMs;
  terminal.progress(`Waiting for the hub at ${hub.url} …`);
  try {
    if (files.length > 0) await hub.reload(files);
    for (;;) {
      const { servers } = await hub.servers();
      if (change.isThere(servers.find((each) => each.name === name))) return { url: hub.url, tookUp: true };
      if (clock.monotonic() >= deadline) return { url: hub.url, tookUp: false };
      await sleep(clock, 100);
    }
  } catch (error) {
    terminal.err(`${terminal.errColours.yellow('warning')} ${toHubError(error).message}`);
    return { url: hub.url, tookUp: false };
  } finally {
    terminal.progress('');
  }
}

/** One sentence on it, or none. */
export function takeUpLine(hub: TakeUp): string | undefined {
  if (hub === null) return undefined;
  return hub.tookUp
    ? `The hub at ${hub.url} has taken it up.`
    : `The hub at ${hub.url} has not taken it up yet; its log says why.`;
}
