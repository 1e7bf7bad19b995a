import type { ToolDefinition } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';

/** What is kept of a server between lives of the hub. */
export interface RememberedServer {
  /** Belongs to exactly this configuration of the transport. */
  readonly connectionKey: string;
  readonly era: Era;
  readonly protocolVersion: string;
  /** When the era was found out; an old legacy verdict is asked again, for servers are upgraded. */
  readonly verdictAt: number;
  readonly tools: readonly ToolDefinition[];
  readonly at: number;
}

export interface ServerMemory {
  recall(server: string): RememberedServer | undefined;
  remember(server: string, remembered: RememberedServer): void;
}

const verdictLifeMs = 7 * 24 * 3600 * 1000;

/** The remembered era, if it still binds. */
export function knownEra(remembered: RememberedServer | undefined, now: number): Era | undefined {
  if (remembered === undefined) return undefined;
  return now - remembered.verdictAt < verdictLifeMs ? remembered.era : undefined;
}
