import type { Listed, ListedKind } from '../../calls/index.ts';
import type { AgentDeps } from './agent.ts';
import type { AgentSession } from './agent-session.ts';
import { type WaitOptions, withDeadline } from './deadline.ts';
import { discoverMissing, discoveryMs } from './discover.ts';
import { jsonText } from './json-text.ts';
import { checkTrusted } from './not-trusted.ts';
import { type OperationAnswer, type Order, operate } from './operate.ts';

/** An operation other than a tool call. */
export type AgentOperation = Pick<Order, 'kind' | 'name' | 'args' | 'subscription'>;

export interface AgentOperations {
  list<T>(kind: ListedKind, toItem: (listed: Listed) => T, options: WaitOptions): Promise<readonly T[]>;
  run(operation: AgentOperation, options: WaitOptions): Promise<OperationAnswer>;
}

/** Lists and operations of one agent. Servers that were never reached are discovered when they are needed. */
export function createAgentOperations(deps: AgentDeps, session: AgentSession): AgentOperations {
  const { hub, clock } = deps;
  const { caller } = session;
  return {
    list: (kind, toItem, options) =>
      withDeadline(deps, options, async (signal) => {
        checkTrusted(hub, caller);
        await discoverMissing(hub, caller, { clock, limitMs: discoveryMs, signal });
        return hub.lists.listed(caller, kind).map(toItem);
      }),
    run: (operation, options) =>
      withDeadline(deps, options, async (signal) => {
        const argumentsText = jsonText(operation.args, operation.name);
        return operate(deps, session, { ...operation, reference: 'subject', argumentsText }, signal);
      }),
  };
}
