import { type Clock, createId, HubError, type Logger, type RandomBytes } from '../base/index.ts';
import { Journal } from './journal.ts';
import { JournalLedger, type Ledger } from './ledger.ts';
import { reasonOf, wayOut } from './ledger-errors.ts';
import { type LedgerFiles, systemFiles } from './ledger-files.ts';
import { journalFolder } from './places.ts';
import { recoverJournals } from './recovery.ts';
import type { Redact } from './redact.ts';
import { checkRunsFolder } from './run-file.ts';
import { RunFollower } from './run-follower.ts';

export interface OpenLedgerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly redact: Redact;
  /** Makes the folder above the journal anew when it was deleted under a running hub. */
  readonly restoreFolder?: (() => Promise<void>) | undefined;
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
  const { clock, logger, redact, restoreFolder } = deps;
  const files = { ...systemFiles, ...deps.files };
  const { workspace, sync, rotateBytes = defaultRotateBytes } = options;
  const boot = createId(deps.random, bootLength);
  try {
    checkRunsFolder(workspace);
    await recoverJournals({ clock, logger, files }, workspace, boot);
    const journal = new Journal({ clock, logger, files }, { workspace, boot, sync, rotateBytes });
    const follower = new RunFollower({ clock, logger, files }, workspace, journal);
    return new JournalLedger({ clock, logger, redact, restoreFolder }, boot, journal, follower);
  } catch (error) {
    throw new HubError(
      'LEDGER_UNAVAILABLE',
      `The journal in ${journalFolder(workspace)} cannot be started: ${reasonOf(error)}.`,
      {
        hint: `${wayOut(error)} Without a journal no call is sent.`,
        cause: error,
      },
    );
  }
}

const bootLength = 12;
const defaultRotateBytes = 8 * 1024 * 1024;
