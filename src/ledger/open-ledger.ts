import { type Clock, createId, HubError, type Logger, type RandomBytes } from '../base/index.ts';
import { type LedgerFiles, systemFiles } from './journal/file-operations.ts';
import { Journal } from './journal/journal.ts';
import { openHeads } from './journal/open-heads.ts';
import { recoverJournals } from './journal/recovery.ts';
import { JournalLedger } from './journal-ledger.ts';
import type { Ledger } from './ledger.ts';
import { reasonOf, wayOut } from './ledger-errors.ts';
import { journalFolder, type LedgerPlaces } from './places.ts';
import { ArgumentBudget } from './records/argument-budget.ts';
import type { Redact } from './records/redact.ts';
import { type RetentionLimits, startRetention } from './retention/start-retention.ts';
import { checkRunsFolder } from './runs/run-file.ts';
import { RunFollower } from './runs/run-follower.ts';

export interface OpenLedgerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly redact: Redact;
  /** Recreates the folder above the journal after it was deleted under a running hub. */
  readonly restoreFolder?: (() => Promise<void>) | undefined;
  /** For tests: overrides of the real file system. */
  readonly files?: Partial<LedgerFiles>;
}

export interface OpenLedgerOptions extends LedgerPlaces {
  /** `always`: a record survives power loss, at the cost of a disk flush per turn. */
  readonly sync: 'os' | 'always';
  /** How much is kept. Default: everything. */
  readonly retention?: RetentionLimits;
  readonly rotateBytes?: number;
  /** Characters of arguments that are kept of one agent in a minute. */
  readonly argumentsPerMinute?: number;
}

/** Recovers the journals of dead processes, then starts this process's own. */
export async function openLedger(deps: OpenLedgerDeps, options: OpenLedgerOptions): Promise<Ledger> {
  const { clock, logger, redact, restoreFolder } = deps;
  const files = { ...systemFiles, ...deps.files };
  const { workspace, journal: place, sync, retention, rotateBytes = defaultRotateBytes, argumentsPerMinute } = options;
  const boot = createId(deps.random, bootLength);
  try {
    checkRunsFolder(workspace);
    await recoverJournals({ clock, logger, files }, { workspace, journal: place }, { boot });
    const after = await openHeads(journalFolder(options));
    const journal = new Journal({ clock, logger, files }, { place, boot, sync, rotateBytes, after });
    const follower = new RunFollower({ clock, logger, files }, workspace, journal);
    const argumentBudget = new ArgumentBudget(clock, argumentsPerMinute);
    const closing = new AbortController();
    const ledgerDeps = { clock, logger, redact, argumentBudget, closing, restoreFolder };
    const ledger = new JournalLedger(ledgerDeps, boot, journal, follower);
    const note = (record: string): Promise<void> => ledger.note(record);
    if (retention !== undefined) {
      void startRetention({ clock, logger, note }, { workspace, journal: place }, retention, closing.signal);
    }
    return ledger;
  } catch (error) {
    throw new HubError(
      'LEDGER_UNAVAILABLE',
      `The journal in ${journalFolder(options)} cannot be started: ${reasonOf(error)}.`,
      {
        hint: `${wayOut(error)} Without a journal no call is sent.`,
        cause: error,
      },
    );
  }
}

const bootLength = 12;
const defaultRotateBytes = 8 * 1024 * 1024;

/** Brings the run files up to date with journals in another folder, and removes those. */
export async function settleJournals(
  deps: Pick<OpenLedgerDeps, 'clock' | 'logger' | 'random'>,
  places: LedgerPlaces,
): Promise<void> {
  const { clock, logger, random } = deps;
  await recoverJournals({ clock, logger, files: systemFiles }, places, {
    boot: createId(random, bootLength),
    removes: true,
  });
}
