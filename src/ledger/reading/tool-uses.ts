import type { Clock } from '../../base/index.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';
import type { CallLine } from '../records/call-line.ts';
import { hasRecordedCalls, scanJournal } from './journal-calls.ts';
import { readRecordedOpenCalls } from './open-calls.ts';
import { type RecordedCalls, recordedCall } from './read-calls.ts';
import { isWantedCall } from './recorded-call.ts';
import { readCopiedCalls } from './run-copies.ts';

/** Which agents used which tools. */
export interface ToolUses {
  readonly source: RecordedCalls['source'];
  /** When the first call that was read began, ISO 8601. Null without calls. */
  readonly from: string | null;
  readonly agents: ReadonlyMap<string, AgentUses>;
}

export interface AgentUses {
  readonly calls: number;
  readonly runs: number;
  /** Undefined if the agent did not use it. */
  of(server: string, tool: string): ToolUse | undefined;
}

export interface ToolUse {
  readonly count: number;
  /** When the last call began, ISO 8601. */
  readonly last: string;
}

/** Reads the journal as `qm calls` does, in a single pass. */
export async function readToolUses(
  places: LedgerPlaces,
  { since, clock }: { readonly since?: number | undefined; readonly clock: Clock },
): Promise<ToolUses> {
  const counter = new UseCounter();
  const range = since === undefined ? {} : { since };
  const add = (call: CallLine): void => {
    if (isWantedCall(call, range)) counter.add(call);
  };
  const folder = journalFolder(places);
  if (!(await hasRecordedCalls(folder))) {
    for (const { call } of await readCopiedCalls(places.workspace, range)) counter.add(call);
    return counter.result('copies');
  }
  for await (const { pairs } of scanJournal(folder, range)) {
    for (const pair of pairs) {
      const recorded = recordedCall(pair);
      if (recorded !== undefined) add(recorded.call);
    }
  }
  for (const { call } of await readRecordedOpenCalls(places, clock)) add(call);
  return counter.result('journal');
}

class UseCounter {
  readonly #agents = new Map<string, CountedAgent>();
  #from: string | null = null;

  /** A call is a use by the agent and by those that delegated to it: without the tool, none of them could have made it. */
  add(call: CallLine): void {
    const { ts, server, tool, method, decision } = call;
    if (this.#from === null || ts < this.#from) this.#from = ts;
    for (const name of new Set([call.agent, ...(call.chain ?? [])])) {
      const agent = this.#agents.get(name) ?? new CountedAgent();
      this.#agents.set(name, agent);
      agent.calls++;
      agent.runIds.add(call.run_id);
      // The agent has no right to a tool that it was denied, so there is nothing to remove.
      if (server !== null && method === undefined && decision !== 'deny') agent.use(keyOf(server, tool), ts);
    }
  }

  result(source: ToolUses['source']): ToolUses {
    return { source, from: this.#from, agents: this.#agents };
  }
}

class CountedAgent implements AgentUses {
  calls = 0;
  readonly runIds = new Set<string>();
  readonly #tools = new Map<string, ToolUse>();

  get runs(): number {
    return this.runIds.size;
  }

  of(server: string, tool: string): ToolUse | undefined {
    return this.#tools.get(keyOf(server, tool));
  }

  use(key: string, ts: string): void {
    const before = this.#tools.get(key);
    const last = before !== undefined && before.last > ts ? before.last : ts;
    this.#tools.set(key, { count: (before?.count ?? 0) + 1, last });
  }
}

function keyOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}
