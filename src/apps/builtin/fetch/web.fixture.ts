import type { LookupAddress } from 'node:dns';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  isIP,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { setImmediate as breathe } from 'node:timers/promises';
import {
  type AllowedHost,
  type Clock,
  createEgressGuard,
  createSystemClock,
  type ResolveAll,
  readAllowedHost,
} from '../../../base/index.ts';
import type { Dial } from './dial.ts';
import { createFetchTools, type FetchLimits } from './fetch-tools.ts';

/** The addresses of each name, one list per lookup; the last one repeats. */
export type Names = Readonly<Record<string, readonly (readonly string[])[]>>;

/** A web with one real server that receives every connection, whatever its address. */
export interface Web {
  /** Calls a tool; rejects with its fault. */
  call(tool: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<string>;
  /** The addresses passed to the socket, as `address:port`. */
  readonly dialled: string[];
  readonly asked: string[];
  readonly requests: IncomingMessage[];
  /** Clears all records. */
  forget(): void;
  /** The number of sockets that the tools opened and did not close. */
  open(): number;
  close(): Promise<void>;
}

export interface WebOptions {
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Replaces HTTP with raw bytes, as a hostile server sends them. */
  readonly raw?: (socket: Socket) => void;
  readonly names?: Names;
  /** Replaces `names`. */
  readonly lookup?: ResolveAll;
  readonly breathe?: () => Promise<unknown>;
  readonly allowed?: readonly string[];
  readonly limits?: Partial<FetchLimits>;
  readonly clock?: Clock;
}

export const publicAddress = '93.184.216.34';
const publicNames: Names = { 'public.test': [[publicAddress]], 'other.test': [['93.184.216.35']] };

export async function createWeb(options: WebOptions): Promise<Web> {
  const requests: IncomingMessage[] = [];
  const server = options.raw
    ? createTcpServer(options.raw)
    : createServer((request, response) => {
        requests.push(request);
        options.answer?.(request, response);
      });
  const accepted = new Set<Socket>();
  server.on('connection', (socket: Socket) => void accepted.add(socket));
  const port = await listen(server);
  const { lookup, asked } = createResolver({ ...publicNames, ...options.names });
  const { dial, dialled, sockets } = createRecordingDial(port);
  const allowed = (options.allowed ?? [])
    .map(readAllowedHost)
    .filter((host): host is AllowedHost => host !== undefined);
  const guard = createEgressGuard({ lookup: options.lookup ?? lookup }, { allowed });
  const limits = { maxBytes: 1024 * 1024, maxRedirects: 5, userAgent: 'test', timeoutMs: 20_000, ...options.limits };
  const deps = { clock: options.clock ?? createSystemClock(), guard, dial, breathe: options.breathe ?? breathe };
  const tools = createFetchTools(deps, limits);
  return {
    dialled,
    asked,
    requests,
    forget() {
      for (const list of [dialled, asked, requests]) list.length = 0;
    },
    open: () => [...sockets].filter((socket) => !socket.destroyed).length,
    async call(name, args, signal = new AbortController().signal) {
      const tool = tools.find((each) => each.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return (await tool.run(tool.input.parse(args), { signal })).text;
    },
    async close() {
      for (const socket of [...sockets, ...accepted]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function listen(server: Server | TcpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  // A listening TCP server has an address with a port.
  return (server.address() as AddressInfo).port;
}

/** Answers only from a table: no test asks a real resolver. */
export function createResolver(names: Names): { lookup: ResolveAll; asked: string[] } {
  const asked: string[] = [];
  const lookup: ResolveAll = (name, _, done) => {
    asked.push(name);
    const answers = names[name.replace(/\.$/, '')] ?? [];
    const times = asked.filter((each) => each === name).length;
    const addresses = answers[Math.min(times, answers.length) - 1];
    if (addresses === undefined) {
      done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
    } else done(null, addresses.map(toAddress));
  };
  return { lookup, asked };
}

function toAddress(address: string): LookupAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/** Opens real sockets like the real one, but always to the fixture. */
function createRecordingDial(port: number): { dial: Dial; dialled: string[]; sockets: Set<Socket> } {
  const dialled: string[] = [];
  const sockets = new Set<Socket>();
  const dial: Dial = (to) => {
    if (isIP(to.host) !== 0) dialled.push(`${to.host}:${to.port}`);
    const socket = connect({
      host: isIP(to.host) === 0 ? to.host : '127.0.0.1',
      port,
      lookup: (name, how, done) =>
        to.lookup(name, how, (error, address, family) => {
          if (error !== null) return done(error, address, family);
          const addresses = typeof address === 'string' ? [{ address, family: family ?? 0 }] : address;
          dialled.push(...addresses.map((each) => `${each.address}:${to.port}`));
          return how.all === true ? done(null, [toAddress('127.0.0.1')]) : done(null, '127.0.0.1', 4);
        }),
    });
    sockets.add(socket);
    return socket;
  };
  return { dial, dialled, sockets };
}
