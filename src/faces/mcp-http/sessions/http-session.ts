import type { Clock } from '../../../base/index.ts';
import type { ListDigests } from '../../../calls/index.ts';
import type { LegacyClient, ListListener } from '../../mcp/index.ts';
import type { EventStream } from '../response.ts';
import type { ClientSession, SessionFacts } from './client-sessions.ts';
import { SessionStreams } from './session-streams.ts';

export interface OpenStream extends ListListener {
  readonly events: EventStream;
  /** The header that authenticated it, to be checked again. */
  readonly authorization: string | undefined;
}

/** A client session over `/mcp`. Answers go with their requests; the stream carries everything else. */
export class HttpSession implements ClientSession {
  readonly id: string;
  readonly owner: string;
  lastRequest: number;
  readonly protocolVersion: string;
  readonly streams: SessionStreams;
  readonly client: LegacyClient;
  /** The lists that the client got last; undefined if it never listed. */
  listed: ListDigests | undefined;
  stream: OpenStream | undefined;

  /** The client gets a function that sends on the GET stream, if there is one. */
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
