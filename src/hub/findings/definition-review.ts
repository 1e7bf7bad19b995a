import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, defectFields, type Logger, type Timer } from '../../base/index.ts';
import {
  type DefinitionFinding,
  definitionsOf,
  findInDefinitions,
  type ListedDefinitions,
  type ScannedDefinitions,
  scanDefinition,
} from '../../governance/index.ts';
import type { EmitEvent } from '../events/event-emitter.ts';

/** Looks at the definitions of the servers in use, on request and some time after they changed. */
export interface DefinitionReview {
  findings(): readonly DefinitionFinding[];
  /** The same in these lists. A definition that was read before is not read again. */
  findingsIn(listed: ReadonlyMap<string, ListedDefinitions>): readonly DefinitionFinding[];
  /** Lists of a server may have changed. */
  noteChange(): void;
  close(): void;
}

export interface DefinitionReviewDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emit: EmitEvent;
  /** A server may write a secret that it got into its definitions. */
  readonly redact: (text: string) => string;
  /** The last known lists, in the order of the configuration. */
  readonly listed: () => ReadonlyMap<string, ListedDefinitions>;
  /** Ids of findings that a person looked at. */
  readonly acknowledged: () => ReadonlySet<string>;
}

/** Events can wait; a server that changes all the time costs one look in this time. */
const waitMs = 2_000;
/** So many definitions are read before others get a turn. */
const perTurn = 32;

export function createDefinitionReview(deps: DefinitionReviewDeps): DefinitionReview {
  const { clock, logger } = deps;
  const scanned: ScannedDefinitions = new WeakMap();
  const told = new Map<string, string>();
  let timer: Timer | undefined;
  let closed = false;

  function findingsIn(listed: ReadonlyMap<string, ListedDefinitions>): readonly DefinitionFinding[] {
    return findInDefinitions(listed, { redact: deps.redact, acknowledged: deps.acknowledged(), scanned });
  }

  async function look(): Promise<void> {
    let count = 0;
    for (const lists of deps.listed().values()) {
      for (const { definition } of definitionsOf(lists)) {
        scanDefinition(definition, scanned);
        count++;
        if (count % perTurn === 0) await nextTurn();
        if (closed) return;
      }
    }
    tellChanges(findingsIn(deps.listed()), deps, told);
  }

  return {
    findings: () => findingsIn(deps.listed()),
    findingsIn,
    noteChange() {
      if (closed || timer !== undefined) return;
      timer = clock.setTimer(waitMs, () => {
        timer = undefined;
        look().catch((error: unknown) => logger.error('catalog.findings-defect-contained', defectFields(error)));
      });
    },
    close() {
      closed = true;
      timer?.cancel();
    },
  };
}

/** Enough to see what it is about. The API has the others. */
const mostInEvent = 20;

function tellChanges(
  findings: readonly DefinitionFinding[],
  { emit, listed }: Pick<DefinitionReviewDeps, 'emit' | 'listed'>,
  told: Map<string, string>,
): void {
  const open = new Map<string, DefinitionFinding[]>([...told.keys(), ...listed().keys()].map((server) => [server, []]));
  for (const finding of findings) if (!finding.acknowledged) open.get(finding.server)?.push(finding);
  for (const [server, own] of open) {
    const ids = own.map(({ id }) => id).join();
    if (ids === (told.get(server) ?? '')) continue;
    if (ids === '') told.delete(server);
    else told.set(server, ids);
    emit({ type: 'catalog.findings', server, count: own.length, findings: own.slice(0, mostInEvent) });
  }
}
