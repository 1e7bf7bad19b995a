import { type Clock, createId, HubError, type Logger, type RandomBytes } from '../base/index.ts';
import { Journal } from './journal.ts';
import { JournalLedger, type Ledger } from './ledger.ts';
import { type LedgerFiles, systemFiles } from './ledger-files.ts';
import { journalFolder } from './places.ts';
import { recoverJournals } from './recovery.ts';
import type { Redact } from './redact.ts';
import { RunFollower } from './run-follower.ts';

export interface OpenLedgerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly redact: Redact;
  /** For tests: what differs from the real file system. */
  readonly files?: Partial<LedgerFiles>;
}

export interface OpenLedgerOptions {
  readonly workspace: string;
  /** `always`: a record survives power loss, at the price of a disk flush per turn. */
  readonly sync: 'os' | 'always';
  readonly rotateBytes?: number;
}

/** Recovers what dead processes left, then starts this process's own journal. */
export async function openLedger(deps: OpenLedgerDeps, options: OpenLedgerOptions): Promise<Ledger> {
  const { clock, logger, redact } = deps;
  const files = { ...systemFiles, ...deps.files };
  const { workspace, sync, rotateBytes = defaultRotateBytes } = options;
  const boot = createId(deps.random, bootLength);
  const folder = journalFolder(workspace);
  try {
    await recoverJournals({ clock, logger, files }, workspace, boot);
    const journal = new Journal({ clock, logger, files }, { folder, boot, sync, rotateBytes });
    const follower = new RunFollower({ clock, logger, files }, workspace, journal);
    return new JournalLedger({ clock, logger, redact }, boot, journal, follower);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HubError('LEDGER_UNAVAILABLE', `The journal in ${folder} cannot be started: ${reason}.`, {
      hint: 'Free disk space or repair the folder; without a journal no call is sent.',
      cause: error,
    });
  }
}

const bootLength = 12;
const defaultRotateBytes = 8 * 1024 * 1024;
