import { type Clock, HubError, type Logger, type RandomBytes } from '../base/index.ts';
import { hasUnsettledCalls, settleJournals } from '../ledger/index.ts';
import {
  earlierJournal,
  findEarlierState,
  ledgerPlaces,
  moveEarlierState,
  type WorkspaceLayout,
  withEarlierLock,
} from '../storage/index.ts';

interface EarlierStateDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

/** Takes over the state that an earlier version kept in the workspace, if there is any. */
export async function takeOverEarlierState(deps: EarlierStateDeps, layout: WorkspaceLayout): Promise<void> {
  const { clock, logger, random } = deps;
  const found = findEarlierState(layout);
  if (found === 'none') return;
  const folder = `${layout.workspace}/.quartermaster`;
  if (found === 'foreign') {
    logger.warn('state.foreign-ignored', { folder, note: foreignNote });
    return;
  }
  await withEarlierLock(layout, { clock, random }, async () => {
    const places = { ...ledgerPlaces(layout), journal: earlierJournal(layout) };
    await settleJournals(deps, places);
    if (await hasUnsettledCalls(places, clock)) throw stillInUse(folder);
    await moveEarlierState(layout, random);
  });
  logger.info('state.moved', { from: folder, to: layout.folder, note: movedNote });
}

const foreignNote =
  'This folder was not made on this machine: it was copied or came with the repository. Nothing in it is used; delete it.';

const movedNote =
  'The state of the hub is outside the workspace now. It has a new admin token. Agent tokens stay invalid until you ' +
  'confirm them with `qm state migrate`.';

function stillInUse(folder: string): HubError {
  return new HubError('STATE_LOCKED', `An earlier version of Quartermaster still uses ${folder}.`, {
    hint: 'Stop its processes, such as `qm stdio` in a client, then try again.',
  });
}
