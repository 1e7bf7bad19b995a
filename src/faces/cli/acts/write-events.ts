import { sleep, toHubError } from '../../../base/index.ts';
import { type AdminEvent, openLedger } from '../../../ledger/index.ts';
import { ledgerPlaces, type WorkspaceLayout } from '../../../storage/index.ts';
import { readOutcome } from '../../attach/index.ts';
import type { CliContext } from '../context.ts';
import { lockWorkspace } from '../hosting/take-workspace.ts';
import { attachToHub } from '../hub/attach-to-hub.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { createLogger } from '../terminal/cli-logger.ts';

/** How long a hub may take to start or to stop before the act is given up. */
const waitMs = 20_000;
const pollMs = 50;
const answerMs = 10_000;
const maxAnswerBytes = 64 * 1024;
/** A request to the hub is one line of limited length. */
const mostAtOnce = 50;

/**
 * The hub of the workspace writes them. If none runs, this process takes the hub's place for a moment, so that there is
 * one writer at any time and one chain.
 */
export async function writeEvents(cli: CliContext, workspace: string, events: readonly AdminEvent[]): Promise<void> {
  const { clock } = cli;
  const layout = stateLayout(cli, workspace);
  const until = clock.monotonic() + waitMs;
  for (;;) {
    try {
      if (await writeInHub(cli, workspace, events)) return;
      const lock = await lockWorkspace(cli, { logLevel: 'error' }, layout);
      try {
        await writeHere(cli, layout, events);
      } finally {
        await lock.release();
      }
      return;
    } catch (error) {
      const { code } = toHubError(error);
      const isPassing = code === 'HUB_STOPPING' || code === 'HUB_LOST' || code === 'STATE_LOCKED';
      if (!isPassing || clock.monotonic() >= until || cli.signals.graceful().aborted) throw error;
    }
    await sleep(clock, pollMs);
  }
}

/** False if no hub runs. */
async function writeInHub(cli: CliContext, workspace: string, events: readonly AdminEvent[]): Promise<boolean> {
  for (let at = 0; at < events.length; at += mostAtOnce) {
    const params = { events: events.slice(at, at + mostAtOnce) };
    const attached = await attachToHub(
      cli,
      { workspace },
      { agent: 'operator', operation: { name: 'record', params } },
    );
    if (attached === undefined) return false;
    await readOutcome(attached, cli.clock, { maxBytes: maxAnswerBytes, timeoutMs: answerMs });
  }
  return true;
}

async function writeHere(cli: CliContext, layout: WorkspaceLayout, events: readonly AdminEvent[]): Promise<void> {
  const { clock, random, mask } = cli;
  const redact = { json: mask.json, message: (text: string, most = Infinity) => mask.text(text.slice(0, most)) };
  const logger = createLogger(cli, 'error');
  const ledger = await openLedger({ clock, logger, random, redact }, { ...ledgerPlaces(layout), sync: 'always' });
  try {
    await Promise.all(events.map((event) => ledger.admin(event)));
  } finally {
    await ledger.close();
  }
}
