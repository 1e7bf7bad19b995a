import { type Clock, errorTable, HubError, isJsonObject, settlesWithin } from '../../base/index.ts';
import type { Abilities } from '../../domain/index.ts';
import {
  declaresTasks,
  type Era,
  legacyUpstreamVersions,
  legacyVersions,
  metaKeys,
  modernVersion,
  modernVersions,
  sharedCapabilities,
} from '../../mcp/index.ts';
import { garbled } from '../failures.ts';
import {
  ask,
  controlRequest,
  type ErrorReply,
  type FailedReply,
  legacyEnvelope,
  modernEnvelope,
  type Transport,
  type UpstreamReply,
  type UpstreamRequest,
} from '../transport.ts';

/** The result of the handshake. */
export interface Agreement {
  readonly era: Era;
  readonly version: string;
  readonly hasTools: boolean;
  /** Its other capabilities. */
  readonly abilities: Abilities;
  /** The lists whose changes it announces. */
  readonly announces: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
  readonly about: ServerDescription;
}

/** The server's description of itself. It is not verified, so nothing may depend on it. */
export interface ServerDescription {
  readonly serverInfo: Readonly<Record<string, unknown>> | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export type HandshakeOutcome =
  | { readonly kind: 'agreed'; readonly agreement: Agreement }
  /** The server exited on the modern probe. Try again with a new process and the legacy handshake. */
  | { readonly kind: 'died-of-probe'; readonly failure: FailedReply }
  | { readonly kind: 'failed'; readonly failure: FailedReply };

export interface HandshakeOptions {
  readonly server: string;
  readonly client: { readonly name: string; readonly version: string };
  readonly terms: { readonly capabilities: string } | undefined;
  /** The remembered era. If undefined, the modern probe goes first. */
  readonly known: Era | undefined;
  readonly timeoutMs: number;
  /** The connection is no longer wanted. */
  readonly signal: AbortSignal;
}

/** After this silence, `initialize` follows while the modern probe stays open. */
const probeSilenceMs = 3000;

/**
 * Detects the era. Over HTTP, only an answer means legacy. Over stdio, any error does, and silence makes
 * it likely. 401, 403, 5xx and timeouts over HTTP say nothing about the era.
 */
export async function negotiate(
  transport: Transport,
  clock: Clock,
  options: HandshakeOptions,
): Promise<HandshakeOutcome> {
  // The HTTP+SSE transport has no modern version.
  if (transport.kind === 'sse') return accept(transport, clock, options, await greet(transport, options));
  if (options.known !== 'legacy') return probe(transport, clock, options);
  const reply = await greet(transport, options);
  // An upgraded server may no longer support the legacy handshake.
  return isRefusal(reply) ? probe(transport, clock, options) : accept(transport, clock, options, reply);
}

function isRefusal(reply: UpstreamReply): boolean {
  return reply.kind === 'error' || (reply.kind === 'failed' && unknownRequestStatuses.has(reply.httpStatus ?? 0));
}

async function probe(transport: Transport, clock: Clock, options: HandshakeOptions): Promise<HandshakeOutcome> {
  const given = new AbortController();
  let alone = true;
  const answer = askModern(transport, options, AbortSignal.any([options.signal, given.signal]), () => alone);
  if (transport.kind === 'http' || (await settlesWithin(clock, probeSilenceMs, answer))) {
    const found = await answer;
    return found === 'legacy' ? accept(transport, clock, options, await greet(transport, options)) : found;
  }
  alone = false;
  // A slow server reads both requests in order, so a modern one still answers the first.
  const greeting = greet(transport, options);
  const first = await Promise.race([answer, greeting.then((reply) => ({ kind: 'greeted' as const, reply }))]);
  if (first === 'legacy') return accept(transport, clock, options, await greeting);
  if (first.kind === 'greeted') {
    const outcome = await accept(transport, clock, options, first.reply);
    given.abort();
    return outcome;
  }
  if (first.kind === 'agreed') transport.speak(modernEnvelope(first.agreement.version, options.client));
  return first;
}

/**
 * A server that wants another version names its versions, and is asked once more; but not once the legacy handshake
 * has begun, because the transport then speaks legacy.
 */
async function askModern(
  transport: Transport,
  options: HandshakeOptions,
  signal: AbortSignal,
  isAlone: () => boolean,
): Promise<HandshakeOutcome | 'legacy'> {
  const inRevision = (version: string): Promise<UpstreamReply> => {
    transport.speak(modernEnvelope(version, options.client));
    return ask(transport, handshakeRequest('server/discover', {}, options), signal);
  };
  const reply = await inRevision(modernVersion);
  const wanted = reply.kind === 'error' && isAlone() ? revisionWanted(reply) : undefined;
  return judge(transport, wanted === undefined ? reply : await inRevision(wanted));
}

/** Its answer is parsed as a whole. */
function handshakeRequest(method: string, params: Record<string, unknown>, options: HandshakeOptions): UpstreamRequest {
  return { ...controlRequest(method, params, options.timeoutMs), maxAnswerLength: maxHandshakeLength };
}

/** Most of it are instructions for models. */
const maxHandshakeLength = 1024 * 1024;

function revisionWanted({ code, text }: ErrorReply): string | undefined {
  if (code !== errorTable.UNSUPPORTED_VERSION.jsonRpc) return undefined;
  const { data } = JSON.parse(text) as { data?: unknown }; // the text of an error object that was parsed before
  return isJsonObject(data) ? commonVersion(data.supported) : undefined;
}

function commonVersion(supported: unknown): string | undefined {
  return Array.isArray(supported) ? modernVersions.find((version) => supported.includes(version)) : undefined;
}

function judge(transport: Transport, reply: UpstreamReply): HandshakeOutcome | 'legacy' {
  if (reply.kind === 'result') {
    const common = commonVersion(reply.value.supportedVersions);
    if (common === undefined) return 'legacy';
    return { kind: 'agreed', agreement: agreement('modern', common, reply.value) };
  }
  if (reply.kind === 'error') return 'legacy';
  if (transport.kind === 'stdio') {
    if (reply.cause === 'connection') return { kind: 'died-of-probe', failure: reply };
    return reply.error.code === 'UPSTREAM_TIMEOUT' ? 'legacy' : { kind: 'failed', failure: reply };
  }
  return isRefusal(reply) ? 'legacy' : { kind: 'failed', failure: reply };
}

/** How long to wait for the HTTP status of a notification. */
const initializedMs = 2000;

/** Statuses with which servers refuse unknown requests. Some answer 200 with a body that is not JSON-RPC. */
const unknownRequestStatuses: ReadonlySet<number> = new Set([200, 202, 400, 404, 405, 406, 415, 422]);

/** Sends `initialize`. `accept` reads the answer. */
function greet(transport: Transport, options: HandshakeOptions): Promise<UpstreamReply> {
  transport.speak(legacyEnvelope(''));
  const capabilities: unknown = JSON.parse(options.terms?.capabilities ?? sharedCapabilities);
  const params = { protocolVersion: legacyVersions[0], capabilities, clientInfo: options.client };
  return ask(transport, handshakeRequest('initialize', params, options), options.signal);
}

async function accept(
  transport: Transport,
  clock: Clock,
  options: HandshakeOptions,
  reply: UpstreamReply,
): Promise<HandshakeOutcome> {
  if (reply.kind !== 'result') return { kind: 'failed', failure: asFailure(options.server, reply) };
  const version = reply.value.protocolVersion;
  if (typeof version !== 'string' || !legacyUpstreamVersions.includes(version)) {
    return { kind: 'failed', failure: garbled(options.server, versionText(version)) };
  }
  transport.speak(legacyEnvelope(version));
  // Over HTTP the next request could overtake it, and some servers refuse requests that arrive before it.
  const taken = transport.notify('notifications/initialized');
  if (taken !== undefined) await settlesWithin(clock, initializedMs, taken);
  return { kind: 'agreed', agreement: agreement('legacy', version, reply.value) };
}

function agreement(era: Era, version: string, said: Readonly<Record<string, unknown>>): Agreement {
  const capabilities = isJsonObject(said.capabilities) ? said.capabilities : {};
  const { tools, resources, prompts, completions, logging } = capabilities;
  const serverInfo = era === 'legacy' ? said.serverInfo : isJsonObject(said._meta) && said._meta[metaKeys.serverInfo];
  return {
    era,
    version,
    hasTools: isJsonObject(tools),
    abilities: {
      resources: isJsonObject(resources),
      subscriptions: says(resources, 'subscribe'),
      prompts: isJsonObject(prompts),
      completions: isJsonObject(completions),
      logging: isJsonObject(logging),
      tasks: era === 'modern' && declaresTasks(capabilities),
    },
    announces: {
      tools: says(tools, 'listChanged'),
      resources: says(resources, 'listChanged'),
      prompts: says(prompts, 'listChanged'),
    },
    about: {
      serverInfo: isJsonObject(serverInfo) ? serverInfo : undefined,
      instructions: typeof said.instructions === 'string' ? said.instructions : undefined,
      capabilities,
    },
  };
}

function says(capability: unknown, member: string): boolean {
  return isJsonObject(capability) && capability[member] === true;
}

function asFailure(server: string, reply: Exclude<UpstreamReply, { kind: 'result' }>): FailedReply {
  if (reply.kind === 'failed') return reply;
  const error = new HubError('UPSTREAM_FAILED', `Server "${server}" refused the handshake: ${reply.message}`, {
    hint: 'Look at the logs of the server.',
    details: { server, upstreamCode: reply.code, reason: `refused the handshake: ${reply.message}` },
  });
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: reply.httpStatus };
}

/** Quotes the version only if it is a date, because a server can answer with anything. */
function versionText(version: unknown): string {
  return typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version)
    ? `protocol version ${version}`
    : 'a protocol version that does not exist';
}
