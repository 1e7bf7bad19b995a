import type { ServerState } from '../../domain/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';
import type { View } from '../views/view.ts';
import { alternativeTo } from './alternative.ts';

/** A server whose tools are not in the agent's list, described for the agent. */
export interface MissingServer {
  readonly server: string;
  readonly state: ServerState;
  /** Follows the server's name: "is still starting". */
  readonly why: string;
  /** What the agent can do without it. */
  readonly meanwhile: string;
}

/** Models read this in every conversation, so its length is bounded. */
const longestName = 64;
const longestAdvice = 200;

export function missingServers({ undiscovered, untrusted }: View): readonly MissingServer[] {
  return [...undiscovered.map(missingServer), ...untrusted.map(untrustedServer)];
}

/** Never says what it would start: the agent may be the one who wrote it. */
function untrustedServer(name: string): MissingServer {
  return {
    server: cut(name, longestName),
    state: 'untrusted',
    why: 'is not trusted yet; ask your user to approve the server with `qm trust`',
    meanwhile: 'continue without its tools',
  };
}

function missingServer(control: UpstreamControl): MissingServer {
  const { state } = control.status();
  return {
    server: cut(control.spec.name, longestName),
    state,
    why: isStarting(control) ? 'is still starting' : (reasons[state] ?? 'has not listed its tools'),
    meanwhile: cut(alternativeTo(control) ?? 'continue without its tools', longestAdvice),
  };
}

/** Never discovered, and nothing has gone wrong so far. */
export function isStarting({ lastCatalog, failure }: UpstreamControl): boolean {
  return lastCatalog === undefined && failure === undefined;
}

const reasons: Partial<Record<ServerState, string>> = {
  connecting: 'cannot be reached; the hub is trying again',
  retrying: 'cannot be reached; the hub keeps trying',
  'open-circuit': 'cannot be reached; the hub keeps trying',
  'needs-login': 'needs a login; ask your user to log in',
  forbidden: "refuses the hub's credential; ask your user to check it",
};

function cut(text: string, length: number): string {
  const line = text.slice(0, 4 * length).replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
