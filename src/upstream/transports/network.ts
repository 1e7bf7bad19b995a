import type { Pool } from 'undici';
import { type Clock, HubError } from '../../base/index.ts';
import { lostConnection, statusFailure } from '../failures.ts';
import type { FailedReply } from '../transport.ts';

/** For calls, streams and answers. */
const callConnections = 128;
/** For notifications, which have no answer. */
const noticeConnections = 8;

/** The connection pools of one remote server. They reach its origin only. */
export interface Pools {
  readonly calls: Pool;
  /** Separate, because a server that leaves notifications open must not use up the connections of calls. */
  readonly notices: Pool;
}

export async function openPools(url: URL): Promise<Pools> {
  const [calls, notices] = await Promise.all([openPool(url, callConnections), openPool(url, noticeConnections)]);
  return { calls, notices };
}

async function openPool(url: URL, connections: number): Promise<Pool> {
  // Loaded on first use, and only this part: the whole package would cost 9 MB.
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  return new Pool(url.origin, {
    connections,
    connect: { timeout: 10_000 },
    // Each call has its own deadlines.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Requests in flight get a second to end. */
export async function closePools({ calls, notices }: Pools, clock: Clock): Promise<void> {
  await Promise.all([closePool(calls, clock), closePool(notices, clock)]);
}

async function closePool(pool: Pool, clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => {
    // While requests wait for a connection, `close` never settles, not even when the pool is destroyed.
    const timer = clock.setTimer(1000, () => void pool.destroy().then(resolve, resolve));
    const closed = (): void => {
      timer.cancel();
      resolve();
    };
    // A pool that was destroyed meanwhile rejects, which does not matter.
    pool.close().then(closed, closed);
  });
}

export function parseUrl(server: string, url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && (parsed.protocol === 'http:' || parsed.protocol === 'https:')) return parsed;
  throw new HubError('SERVER_INVALID', `The URL of server "${server}" is not an http(s) address.`, {
    details: { server },
  });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

export function isEventStream(headers: Headers): boolean {
  return (headerText(headers['content-type']) ?? '').startsWith('text/event-stream');
}

/** The failure for an HTTP status, with the retry time from its headers. */
export function answeredStatus(server: string, status: number, headers: Headers): FailedReply {
  return statusFailure(server, status, headerText(headers['retry-after']), headerText(headers.date));
}

/** 401, 403 and 451: the server wants another credential. */
export function isConnectionRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 451;
}

/** A network failure. `started` says whether the request was being written. */
export function networkFailure(server: string, error: Error, started: boolean): FailedReply {
  const code = errorCode(error);
  const words = code === undefined ? undefined : (networkWords[code] ?? tlsWords(code));
  const what = words === undefined ? (code ?? error.message) : `${words} (${code})`;
  return lostConnection(server, what, started && !nothingSent.has(code ?? ''), error, words ?? what);
}

/** Errors that occur before the first byte of the request is sent. */
const nothingSent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
]);

const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host not found',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'connection closed',
};

function tlsWords(code: string): string | undefined {
  return /CERT|SSL|TLS|SIGNATURE|ISSUER/.test(code) ? 'TLS failed' : undefined;
}

/** Failed attempts to several addresses are one error that contains the others. */
function errorCode(error: Error & { code?: unknown; errors?: readonly { code?: unknown }[] }): string | undefined {
  const code = error.code ?? error.errors?.[0]?.code;
  return typeof code === 'string' ? code : undefined;
}
