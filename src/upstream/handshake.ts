import { type Clock, errorTable, HubError, isJsonObject, sleep } from '../base/index.ts';
import type { Abilities } from '../domain/index.ts';
import {
  declaresTasks,
  type Era,
  legacyUpstreamVersions,
  legacyVersions,
  metaKeys,
  modernVersion,
  modernVersions,
} from '../mcp/index.ts';
import { garbled } from './failures.ts';
import {
  ask,
  controlRequest,
  legacyEnvelope,
  modernEnvelope,
  type Wire,
  type WireError,
  type WireFailure,
  type WireReply,
} from './wire.ts';

/** What the handshake found out. */
export interface Agreement {
  readonly era: Era;
  readonly version: string;
  readonly hasTools: boolean;
  /** What else it says it has. */
  readonly abilities: Abilities;
  /** The lists whose changes it says it announces. */
  readonly announces: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
  readonly about: SelfPortrait;
}

/** What a server says of itself; nobody checks it, so nothing may depend on it. */
export interface SelfPortrait {
  readonly serverInfo: Readonly<Record<string, unknown>> | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export type HandshakeOutcome =
  | { readonly kind: 'agreed'; readonly agreement: Agreement }
  /** The server ended itself over the modern question; ask again on a fresh process, legacy only. */
  | { readonly kind: 'died-of-probe'; readonly failure: WireFailure }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface HandshakeOptions {
  readonly server: string;
  readonly client: { readonly name: string; readonly version: string };
  readonly seat: { readonly capabilities: string } | undefined;
  /** A remembered verdict; undefined asks the modern question first. */
  readonly known: Era | undefined;
  readonly timeoutMs: number;
  /** The connection is not wanted any more. */
  readonly signal: AbortSignal;
}

/** Silence for this long makes `initialize` follow; the modern question stays open beside it. */
const probeSilenceMs = 3000;

/**
 * Finds the era. Over HTTP only an answer says legacy; over stdio any error does, and silence makes
 * it likely. 401, 403, 5xx and timeouts over HTTP say nothing about the era.
 */
export async function shakeHands(wire: Wire, clock: Clock, options: HandshakeOptions): Promise<HandshakeOutcome> {
  // The older transport is older than the newer revision.
  if (wire.transport === 'sse') return accept(wire, clock, options, await greet(wire, options));
  if (options.known !== 'legacy') return probe(wire, clock, options);
  const reply = await greet(wire, options);
  // A server that was upgraded since may know the old handshake no longer.
  return isRefusal(reply) ? probe(wire, clock, options) : accept(wire, clock, options, reply);
}

function isRefusal(reply: WireReply): boolean {
  return reply.kind === 'error' || (reply.kind === 'failed' && refusals.has(reply.httpStatus ?? 0));
}

async function probe(wire: Wire, clock: Clock, options: HandshakeOptions): Promise<HandshakeOutcome> {
  const given = new AbortController();
  let alone = true;
  const answer = askModern(wire, options, AbortSignal.any([options.signal, given.signal]), () => alone);
  if (wire.transport === 'http') {
    const verdict = await answer;
    return verdict === 'legacy' ? accept(wire, clock, options, await greet(wire, options)) : verdict;
  }
  const early = await Promise.race([answer, silence(clock, answer)]);
  if (early !== 'silent') return early === 'legacy' ? accept(wire, clock, options, await greet(wire, options)) : early;
  alone = false;
  // A slow starter reads both questions in order, so a modern one still answers the first.
  const greeting = greet(wire, options);
  const first = await Promise.race([answer, greeting.then((reply) => ({ kind: 'greeted' as const, reply }))]);
  if (first === 'legacy') return accept(wire, clock, options, await greeting);
  if (first.kind === 'greeted') {
    const outcome = await accept(wire, clock, options, first.reply);
    given.abort();
    return outcome;
  }
  if (first.kind === 'agreed') wire.speak(modernEnvelope(first.agreement.version, options.client));
  return first;
}

/**
 * A server that wants another revision names those that it knows, and is asked once more; not beside the old handshake,
 * which speaks in its own way by then.
 */
async function askModern(
  wire: Wire,
  options: HandshakeOptions,
  signal: AbortSignal,
  isAlone: () => boolean,
): Promise<HandshakeOutcome | 'legacy'> {
  const inRevision = (version: string): Promise<WireReply> => {
    wire.speak(modernEnvelope(version, options.client));
    return ask(wire, controlRequest('server/discover', {}, options.timeoutMs), signal);
  };
  const reply = await inRevision(modernVersion);
  const wanted = reply.kind === 'error' && isAlone() ? revisionWanted(reply) : undefined;
  return judge(wire, wanted === undefined ? reply : await inRevision(wanted));
}

function revisionWanted({ code, text }: WireError): string | undefined {
  if (code !== errorTable.UNSUPPORTED_VERSION.jsonRpc) return undefined;
  const { data } = JSON.parse(text) as { data?: unknown }; // the text of an error object that was parsed before
  return isJsonObject(data) ? commonVersion(data.supported) : undefined;
}

function commonVersion(supported: unknown): string | undefined {
  return Array.isArray(supported) ? modernVersions.find((version) => supported.includes(version)) : undefined;
}

async function silence(clock: Clock, answer: Promise<unknown>): Promise<'silent'> {
  const answered = new AbortController();
  void answer.then(() => answered.abort());
  await sleep(clock, probeSilenceMs, answered.signal);
  return 'silent';
}

function judge(wire: Wire, reply: WireReply): HandshakeOutcome | 'legacy' {
  if (reply.kind === 'result') {
    const common = commonVersion(reply.value.supportedVersions);
    if (common === undefined) return 'legacy';
    return { kind: 'agreed', agreement: agreement('modern', common, reply.value) };
  }
  if (reply.kind === 'error') return 'legacy';
  if (wire.transport === 'stdio') {
    if (reply.cause === 'connection') return { kind: 'died-of-probe', failure: reply };
    return reply.error.code === 'UPSTREAM_TIMEOUT' ? 'legacy' : { kind: 'failed', failure: reply };
  }
  return isRefusal(reply) ? 'legacy' : { kind: 'failed', failure: reply };
}

/** A server that leaves a message without an answer unanswered on HTTP is not waited for any longer. */
const initializedMs = 2000;

/** How servers refuse what they do not know; some answer 200 and a body that is no JSON-RPC at all. */
const refusals: ReadonlySet<number> = new Set([200, 202, 400, 404, 405, 406, 415, 422]);

/** The old handshake's question; what its answer means is for `accept`. */
function greet(wire: Wire, options: HandshakeOptions): Promise<WireReply> {
  wire.speak(legacyEnvelope(''));
  const capabilities: unknown = JSON.parse(options.seat?.capabilities ?? '{}');
  const params = { protocolVersion: legacyVersions[0], capabilities, clientInfo: options.client };
  return ask(wire, controlRequest('initialize', params, options.timeoutMs), options.signal);
}

async function accept(
  wire: Wire,
  clock: Clock,
  options: HandshakeOptions,
  reply: WireReply,
): Promise<HandshakeOutcome> {
  if (reply.kind !== 'result') return { kind: 'failed', failure: asFailure(options.server, reply) };
  const version = reply.value.protocolVersion;
  if (typeof version !== 'string' || !legacyUpstreamVersions.includes(version)) {
    return { kind: 'failed', failure: garbled(options.server, `protocol version ${String(version).slice(0, 40)}`) };
  }
  wire.speak(legacyEnvelope(version));
  // Over HTTP the next request could overtake it, and some servers refuse what comes before it.
  const told = new AbortController();
  const taken = wire.notify('notifications/initialized')?.then(() => told.abort());
  if (taken !== undefined) await Promise.race([taken, sleep(clock, initializedMs, told.signal)]);
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

function asFailure(server: string, reply: Exclude<WireReply, { kind: 'result' }>): WireFailure {
  if (reply.kind === 'failed') return reply;
  const error = new HubError('UPSTREAM_FAILED', `Server "${server}" refused the handshake: ${reply.message}`, {
    hint: 'Look at the logs of the server.',
    details: { server, upstreamCode: reply.code, reason: `refused the handshake: ${reply.message}` },
  });
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: reply.httpStatus };
}
