import { version } from '../../base/index.ts';
import type { IssuedToken, TokenSummary } from '../../governance/index.ts';
import type { Hub, HubEvent } from '../../hub/index.ts';
import type {
  DefinitionsBody,
  EventBody,
  FindingsBody,
  HealthBody,
  IssuedTokenBody,
  ServersBody,
  TokenSummaryBody,
} from './contract.ts';

/** The hub's own values in the words of the contract. */
export function issuedTokenBody({ token, id, agent, expires }: IssuedToken): IssuedTokenBody {
  return { token, id, agent, expires: iso(expires) };
}

export function tokenSummaryBody({ id, agent, state, created, expires, parent, run }: TokenSummary): TokenSummaryBody {
  return {
    id,
    agent,
    state,
    created: iso(created),
    expires: iso(expires),
    ...(parent === undefined ? {} : { parent }),
    ...(run === undefined ? {} : { run }),
  };
}

export function serversBody(hub: Hub): ServersBody {
  return {
    servers: hub.status().map((server) => ({ ...server, hides: [...server.hides] })),
    problems: [...hub.problems()],
  };
}

export function findingsBody(hub: Hub): FindingsBody {
  return { findings: [...hub.findings()] };
}

export function definitionsBody(hub: Hub): DefinitionsBody {
  const servers = hub.definitions().map(({ mode, isLive, definitions, changes, server }) => ({
    server,
    ...(mode === undefined ? {} : { mode }),
    live: isLive,
    definitions: [...definitions],
    changes: [...changes],
  }));
  return { servers };
}

export function healthBody(hub: Hub, clientSessions: number): HealthBody {
  const { health } = hub.ledger;
  return {
    status: health === 'good' ? 'ok' : 'degraded',
    version,
    workspace: hub.workspace,
    callsInFlight: hub.callsInFlight,
    clientSessions,
    ledger: health === 'good' ? 'good' : health.reason,
    configuration:
      hub
        .configurationNotices()
        .map(({ message }) => message)
        .join(' ') || 'current',
  };
}

export function eventBody({ type, time, ...facts }: HubEvent): EventBody {
  // The union falls apart when its members are taken one by one; the test parses what is sent.
  return { type, time: iso(time), ...facts } as EventBody;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
