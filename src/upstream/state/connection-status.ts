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
}

/** What operators read of a server. */
export function connectionStatus(spec: ServerSpec, facts: ConnectionFacts): ServerStatus {
  const { state, connection } = facts;
  const waiting = state.kind === 'waiting' ? state : undefined;
  return {
    name: spec.name,
    state: wordOf(state, facts.refused),
    transport: connection?.transport ?? spec.transport.type,
    protocolVersion: connection?.protocolVersion ?? facts.remembered?.protocolVersion,
    tools: facts.catalog?.tools.length,
    source: placeOf(spec.source),
    hides: spec.hides.map(placeOf),
    description: spec.description,
    error: facts.failure?.message,
    retryAt: waiting?.until,
    attempt: waiting === undefined ? undefined : facts.failures,
  };
}
