import type { Clock } from '../../base/index.ts';
import type { KnownLists, LegacyClient } from '../mcp/index.ts';
import type { ClientSession, SessionFacts } from './client-sessions.ts';
import type { EventStream } from './response.ts';
import { SessionStreams } from './session-streams.ts';

export interface OpenStream {
  readonly events: EventStream;
  readonly chain: readonly string[];
  /** The lists as this client last had reason to know them. */
  readonly lists: KnownLists;
  /** What proved the right to it, to be proved again. */
  readonly authorization: string | undefined;
}

/** A client session over `/mcp`. Answers leave with their requests; the stream is for everything else. */
export class HttpSession implements ClientSession {
  readonly id: string;
  readonly owner: string;
  lastRequest: number;
  readonly protocolVersion: string;
  readonly streams: SessionStreams;
  readonly client: LegacyClient;
  /** Which state of the lists the client last asked for. */
  listedAt: number | undefined;
  stream: OpenStream | undefined;

  /** The client is given a way to say something on the stream, where it listens on one. */
  constructor(
    clock: Clock,
    { id, owner, lastRequest, kept }: SessionFacts,
    protocolVersion: string,
    createClient: (announce: (message: string) => void) => LegacyClient,
  ) {
    this.id = id;
    this.owner = owner;
    this.lastRequest = lastRequest;
    this.protocolVersion = protocolVersion;
    this.streams = new SessionStreams(clock, protocolVersion, kept);
    this.client = createClient((message) => this.streams.announce(message));
  }

  get busy(): boolean {
    return this.client.busy;
  }

  close(): void {
    this.streams.close();
    this.stream = undefined;
    this.client.close();
  }
}
