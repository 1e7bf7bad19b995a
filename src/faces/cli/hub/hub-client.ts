import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { z } from 'zod';
import { type ErrorCode, errorTable, HubError } from '../../../base/index.ts';
import {
  apiErrorSchema,
  type CommandOrigin,
  type IssuedTokenBody,
  issuedTokenSchema,
  originHeader,
  type ServersBody,
  serversSchema,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenListSchema,
} from '../../api/index.ts';
import { hubWords } from './hub-words.ts';

/** A client for the API of the workspace's running hub. */
export interface HubClient {
  readonly url: string;
  servers(): Promise<ServersBody>;
  /** Makes the hub reload all files from disk, or only these. */
  reload(files?: readonly string[]): Promise<ServersBody>;
  /** Makes the hub stop these servers, or all, as if their approvals were taken back. */
  withhold(servers: readonly string[] | undefined): Promise<ServersBody>;
  /** Makes the hub connect to a server now, regardless of any backoff. */
  retry(server: string): Promise<ServersBody>;
  issueToken(order: TokenOrderBody): Promise<IssuedTokenBody>;
  listTokens(): Promise<readonly TokenSummaryBody[]>;
  revokeToken(id: string): Promise<void>;
  /** Any other request of the API. */
  ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown): Promise<T>;
}

export interface HubAddress {
  readonly url: string;
  readonly pid: number;
  readonly adminToken: string;
  /** Whether a person sits at the terminal of this command, for the audit log. */
  readonly origin?: CommandOrigin | undefined;
  /** Opens a connection that carries HTTP, to a hub without a port. Undefined if it is gone. */
  connect?(): Promise<Socket | undefined>;
}

/** The hub is on this machine and answers from memory. */
const answerMs = 5000;
const maxAnswerBytes = 64 * 1024 * 1024;

export function createHubClient(address: HubAddress): HubClient {
  async function ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown): Promise<T> {
    const { status, text } = await send(address, method, path, body);
    if (status >= 300) throw refusal(address, status, text);
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw silent(address, 'it answers something else; is it another version?');
  }

  return {
    url: address.url,
    ask,
    servers: () => ask('GET', '/api/servers', serversSchema),
    reload: (files) => ask('POST', '/api/reload', serversSchema, files === undefined ? {} : { files }),
    withhold: (servers) => ask('POST', '/api/trust/withhold', serversSchema, servers === undefined ? {} : { servers }),
    retry: (server) => ask('POST', `/api/servers/${encodeURIComponent(server)}/retry`, serversSchema),
    issueToken: (order) => ask('POST', '/api/tokens', issuedTokenSchema, order),
    listTokens: async () => (await ask('GET', '/api/tokens', tokenListSchema)).tokens,
    async revokeToken(id) {
      const { status, text } = await send(address, 'DELETE', `/api/tokens/${encodeURIComponent(id)}`);
      if (status >= 300) throw refusal(address, status, text);
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(address: HubAddress, method: string, path: string, body?: unknown): Promise<Answer> {
  const socket = await address.connect?.();
  if (address.connect !== undefined && socket === undefined) throw silent(address, 'it has ended');
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const outgoing = request(
      socket === undefined ? new URL(path, address.url) : new URL(path, 'http://127.0.0.1'),
      {
        method,
        // Node uses the given connection only without an agent.
        ...(socket === undefined ? { agent: false } : { createConnection: () => socket }),
        timeout: answerMs,
        headers: {
          authorization: `Bearer ${address.adminToken}`,
          ...(address.origin === undefined ? {} : { [originHeader]: address.origin }),
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
      },
      (incoming) => {
        let answer = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => {
          answer += chunk;
          if (answer.length > maxAnswerBytes) outgoing.destroy(new Error('the answer is too large'));
        });
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: answer }));
        incoming.on('error', (error) => reject(silent(address, error.message, error)));
      },
    );
    // Reading the first line of the control socket has paused it.
    outgoing.on('socket', (used) => used.resume());
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${answerMs / 1000} s`)));
    outgoing.on('error', (error) => reject(silent(address, error.message, error)));
    outgoing.end(text);
  });
}

function silent({ url, pid }: HubAddress, what: string, cause?: unknown): HubError {
  return new HubError('STATE_LOCKED', `The ${hubWords(url)} (process ${pid}) cannot be asked: ${what}.`, {
    hint: 'Try again, or stop that process and start the hub anew.',
    cause,
  });
}

/** The hub's own error, as if it had happened here. */
function refusal(address: HubAddress, status: number, text: string): HubError {
  const parsed = apiErrorSchema.safeParse(parseJson(text));
  if (!parsed.success) return silent(address, `it answers HTTP ${status}`);
  const { code, message, hint } = parsed.data.error;
  if (code === 'UNAUTHENTICATED') return silent(address, 'it does not take the admin token of this workspace');
  const known: ErrorCode = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'INTERNAL'; // checked
  return new HubError(known, message, hint === undefined ? {} : { hint });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
