import type { HubError } from '../../base/index.ts';
import { type Catalog, placeOf, type ServerSpec, type ServerState, type ServerStatus } from '../../domain/index.ts';
import type { RememberedServer } from '../catalog/remembered.ts';
import type { Connection } from '../connecting/connection.ts';
import { type ConnectionState, wordOf } from './connection-state.ts';

export interface ConnectionFacts {
  readonly state: ConnectionState;
  /** The word for a refusal that came over a live connection. */
  readonly refused: ServerState | undefined;
  readonly connection: Connection | undefined;
  readonly remembered: RememberedServer | undefined;
  readonly catalog: Catalog | undefined;
  readonly failure: HubError | undefined;
  readonly failures: number;
  /** How many definitions differ from the accepted ones. */
  readonly changes: number;
}

/** What operators read of a server. */
export function connectionStatus(spec: ServerSpec, facts: ConnectionFacts): ServerStatus {
  const { state, connection } = facts;
  const waiting = state.kind === 'waiting' ? state : undefined;
  return {
    name: spec.name,
    state: withQuarantine(wordOf(state, facts.refused), facts.catalog),
    transport: connection?.transport ?? spec.transport.type,
    protocolVersion: connection?.protocolVersion ?? facts.remembered?.protocolVersion,
    tools: facts.catalog?.tools.length,
    ...(facts.changes === 0 ? {} : { changes: facts.changes }),
    ...withheldIn(facts.catalog),
    source: placeOf(spec.source),
    hides: spec.hides.map(placeOf),
    description: spec.description,
    error: facts.failure?.message,
    retryAt: waiting?.until,
    attempt: waiting === undefined ? undefined : facts.failures,
  };
}

/** A server that cannot be reached is shown as that: only then is it known what it would offer. */
function withQuarantine(state: ServerState, catalog: Catalog | undefined): ServerState {
  return catalog?.withheld?.isWhole === true && isReachable.has(state) ? 'quarantined' : state;
}

const isReachable: ReadonlySet<ServerState> = new Set<ServerState>(['connected', 'idle', 'connecting']);

function withheldIn(catalog: Catalog | undefined): Pick<ServerStatus, 'withheld'> {
  if (catalog?.withheld === undefined) return {};
  const { tool, prompt, template } = catalog.withheld;
  return { withheld: tool.size + prompt.size + template.size };
}
