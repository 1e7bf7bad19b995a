import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import {
  type Clock,
  defectFields,
  HubError,
  type Logger,
  type RandomBytes,
  sleep,
  toHubError,
  version,
} from '../../base/index.ts';
import { runIdPattern } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type AttachAnswer,
  type AttachRequest,
  attachApi,
  attachMs,
  attachRequestSchema,
  drainingLines,
  maxAttachBytes,
  readFirstLine,
} from '../attach/index.ts';
import { serveStdio } from '../mcp-stdio/index.ts';

/** What the operator's commands ask of the hub, by name. A failure is a HubError. */
export type ControlOperations = Readonly<Record<string, ControlOperation>>;

export type ControlOperation = (request: OperationRequest) => Promise<unknown>;

export interface OperationRequest {
  readonly agent: string;
  readonly params: unknown;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Tells the client something before the outcome. */
  tell(event: unknown): void;
  /** Resolves when the client has read most of what it was told, or is gone. For operations that tell without an end. */
  drained(): Promise<void>;
}

export interface ControlDeps {
  readonly hub: Hub;
  /** The real path of the workspace. */
  readonly workspace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly operations: ControlOperations;
  /** The API for operators: the operation `http` turns its connection into one of HTTP. */
  readonly api: (request: IncomingMessage, response: ServerResponse) => void;
  /** What a person should know about an agent that attaches. */
  notesFor(agent: string): readonly string[];
  /** See `AttachAnswer.variables`. */
  variables(): Extract<AttachAnswer, { ok: true }>['variables'];
}

export interface Control {
  /** Not listening yet. */
  readonly server: Server;
  /** Attached clients now. */
  readonly clients: number;
  /** Takes no more clients, has those that can move on to the next hub, and waits for calls in flight up to the limit. */
  drain(limitMs: number, replaced: boolean): Promise<void>;
  /** Ends the connections, after what was written to them has left. Accepts no more. */
  close(): Promise<void>;
}

const maxClients = 1024;
/** How long a client may take to read its last answers. */
const lastBytesMs = 2000;
const drainPollMs = 20;

/** The control socket: whoever can open it has the rights of the operator. It is never bound into a sandbox. */
export function createControl(deps: ControlDeps): Control {
  const clients = new Map<Socket, Client>();
  const http = createHttpServer({ keepAlive: false }, deps.api);
  let draining = false;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    if (clients.size >= maxClients) {
      socket.destroy();
      return;
    }
    const client: Client = { socket, moves: false };
    clients.set(socket, client);
    socket.once('close', () => clients.delete(socket));
    serve({ ...deps, http, isDraining: () => draining }, client).catch((error: unknown) => {
      deps.logger.error('control.defect-contained', defectFields(error));
      socket.destroy();
    });
  });
  server.on('error', (error) => deps.logger.error('control.socket-failed', defectFields(error)));
  return {
    server,
    get clients() {
      return clients.size;
    },
    async drain(limitMs, replaced) {
      draining = true;
      const movers = (): Client[] => [...clients.values()].filter(({ moves }) => moves);
      for (const { socket } of movers()) writeLine(socket, replaced ? drainingLines.replaced : drainingLines.ended);
      const until = deps.clock.monotonic() + limitMs;
      const isBusy = (): boolean => deps.hub.callsInFlight > 0 || movers().length > 0;
      while (isBusy() && deps.clock.monotonic() < until) await sleep(deps.clock, drainPollMs);
    },
    async close() {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of clients.keys()) socket.end();
      const timer = deps.clock.setTimer(lastBytesMs, () => {
        for (const socket of clients.keys()) socket.destroy();
      });
      await closed;
      timer.cancel();
    },
  };
}

interface Client {
  readonly socket: Socket;
  /** It has MCP messages and moves on to the next hub when it is told. */
  moves: boolean;
}

interface ServeDeps extends ControlDeps {
  readonly http: Server;
  isDraining(): boolean;
}

async function serve(deps: ServeDeps, client: Client): Promise<void> {
  const { hub, clock } = deps;
  const { socket } = client;
  const line = await readFirstLine(socket, clock, { maxBytes: maxAttachBytes, timeoutMs: attachMs });
  if (line === undefined) {
    socket.destroy();
    return;
  }
  const request = deps.isDraining() ? leaving() : admit(deps.workspace, line);
  if (request instanceof HubError) {
    const { code, message, hint } = request;
    answer(socket, { ok: false, code, message, ...(hint === undefined ? {} : { hint }) });
    socket.end();
    return;
  }
  answer(socket, {
    ok: true,
    api: attachApi,
    version,
    pid: process.pid,
    maxLineBytes: hub.configuration.serve.maxBodyBytes,
    notes: [...deps.notesFor(request.agent)],
    variables: deps.variables(),
  });
  if (request.operation?.name === 'http') {
    deps.http.emit('connection', socket);
    // Reading the first line has paused it.
    socket.resume();
    return;
  }
  if (request.operation === undefined) await serveMessages(deps, client, request);
  else await operate(deps, socket, request);
  socket.end();
}

function leaving(): HubError {
  return new HubError('HUB_STOPPING', 'This hub is stopping.', { hint: 'Try again in a moment.' });
}

/** Why the connection is refused, or what it asks for. */
function admit(served: string, line: string): AttachRequest | HubError {
  const parsed = attachRequestSchema.safeParse(parseJson(line));
  if (!parsed.success) return new HubError('INVALID_REQUEST', 'This is not the first line of the attach protocol.');
  const { api, workspace, agent, run } = parsed.data;
  if (api !== attachApi) {
    return new HubError('UNSUPPORTED_VERSION', `The hub (version ${version}) has no attach protocol ${api}.`, {
      hint: 'Restart the hub with this version of qm.',
    });
  }
  if (workspace !== served) {
    return new HubError('INVALID_REQUEST', `This hub serves ${served}, not ${workspace.slice(0, 500)}.`);
  }
  if (!agentPattern.test(agent)) return new HubError('USAGE', 'This cannot be the name of an agent.');
  if (run != null && !runIdPattern.test(run)) return new HubError('USAGE', 'This cannot be a run id.');
  return parsed.data;
}

const agentPattern = /^[A-Za-z0-9._-]{1,64}$/;

async function serveMessages(deps: ControlDeps, client: Client, request: AttachRequest): Promise<void> {
  const { hub, clock, logger, random } = deps;
  const { socket } = client;
  const { agent, run, ageMs = 0, drains = false } = request;
  const caller = hub.callerFor({ agent, run: run ?? undefined });
  const startedAt = clock.monotonic() - ageMs;
  const face = serveStdio({ hub, caller, clock, logger, random, input: socket, output: socket, startedAt });
  client.moves = drains;
  socket.resume();
  await face.ended;
}

/** One operation per connection: its outcome is the last line. */
async function operate({ operations }: ControlDeps, socket: Socket, request: AttachRequest): Promise<void> {
  const { agent, operation } = request;
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  // Without a reader, the end of the client would go unnoticed.
  socket.resume().once('end', () => gone.abort());
  const { name = '', params } = operation ?? {};
  try {
    const run = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (run === undefined) {
      throw new HubError('METHOD_NOT_FOUND', `The hub (version ${version}) has no operation "${name.slice(0, 80)}".`, {
        hint: 'Restart the hub with this version of qm.',
      });
    }
    const tell = (event: unknown): void => write(socket, { event });
    const drained = (): Promise<void> => untilDrained(socket, gone.signal);
    write(socket, { result: (await run({ agent, params, signal: gone.signal, tell, drained })) ?? null });
  } catch (error) {
    const { code, message, hint, details } = toHubError(error);
    write(socket, { error: { code, message, details, ...(hint === undefined ? {} : { hint }) } });
  }
}

function untilDrained(socket: Socket, gone: AbortSignal): Promise<void> {
  if (!socket.writableNeedDrain || gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      socket.off('drain', finish);
      gone.removeEventListener('abort', finish);
      resolve();
    };
    socket.once('drain', finish);
    gone.addEventListener('abort', finish, { once: true });
  });
}

function answer(socket: Socket, line: AttachAnswer): void {
  write(socket, line);
}

function write(socket: Socket, value: unknown): void {
  writeLine(socket, JSON.stringify(value));
}

function writeLine(socket: Socket, line: string): void {
  if (!socket.destroyed && !socket.writableEnded) socket.write(`${line}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
