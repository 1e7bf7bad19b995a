import type { ServerState } from '../domain/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import type { View } from './view.ts';

/** A server of an agent whose tools are not in its list, in words for the agent. */
export interface MissingServer {
  readonly server: string;
  readonly state: ServerState;
  /** Follows the server's name: "is still starting". */
  readonly why: string;
  /** What the agent can do without it. */
  readonly meanwhile: string;
}

/** Models read this with every conversation, so it stays short whatever is configured. */
const longestName = 64;
const longestAdvice = 200;

export function missingServers({ unseen }: View): readonly MissingServer[] {
  return unseen.map((control) => {
    const { state } = control.status();
    return {
      server: cut(control.spec.name, longestName),
      state,
      why: isStarting(control) ? 'is still starting' : (reasons[state] ?? 'has not listed its tools'),
      meanwhile: cut(control.spec.instead?.trim().replace(/\.$/, '') || 'continue without its tools', longestAdvice),
    };
  });
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
