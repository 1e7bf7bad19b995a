import type { Clock } from '../../base/index.ts';
import type { Catalog } from '../../domain/index.ts';
import type { Era } from '../../mcp/index.ts';
import type { Via } from '../connecting/transport-fallback.ts';
import type { AcceptedDefinitions } from './accepted-definitions.ts';
import { knownEra, type RememberedServer, type ServerMemory } from './remembered.ts';

/** What the memory holds about one server, as long as its connection is configured the same way. */
export interface ServerRecord {
  recall(): RememberedServer | undefined;
  remember(spoken: SpokenProtocol, catalog: Catalog, accepted: AcceptedDefinitions): void;
  /** Remembers other accepted definitions. Nothing if the server was never listed. */
  accept(accepted: AcceptedDefinitions): void;
}

export interface SpokenProtocol {
  readonly era: Era;
  readonly protocolVersion: string;
}

export interface ServerRecordDeps {
  readonly clock: Clock;
  readonly memory: ServerMemory;
  /** The transport of the current connection. */
  readonly via: () => Via | undefined;
}

export function createServerRecord(
  { clock, memory, via }: ServerRecordDeps,
  { server, connectionKey }: { readonly server: string; readonly connectionKey: string },
): ServerRecord {
  function recall(): RememberedServer | undefined {
    const found = memory.recall(server);
    return found?.connectionKey === connectionKey ? found : undefined;
  }

  /** An era that was only taken over keeps its date; otherwise it would never be checked again. */
  function verdictAt(era: Era): number {
    const before = recall();
    if (before === undefined || (before.via?.place ?? 0) !== (via()?.place ?? 0)) return clock.now();
    return knownEra(before, clock.now()) === era ? before.verdictAt : clock.now();
  }

  return {
    recall,
    accept(accepted) {
      const known = recall();
      if (known !== undefined) memory.remember(server, { ...known, accepted });
    },
    remember({ era, protocolVersion }, { warnings: _warnings, withheld: _withheld, ...lists }, accepted) {
      memory.remember(server, {
        connectionKey,
        era,
        protocolVersion,
        verdictAt: verdictAt(era),
        via: via(),
        ...lists,
        accepted,
      });
    },
  };
}
