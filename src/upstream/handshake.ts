import { type Clock, HubError, isJsonObject, sleep } from '../base/index.ts';
import { type Era, legacyUpstreamVersions, legacyVersions, modernVersion, modernVersions } from '../mcp/index.ts';
import { garbled } from './failures.ts';
import { controlRequest, legacyEnvelope, modernEnvelope, type Wire, type WireFailure, type WireReply } from './wire.ts';

/** What the handshake found out. */
export interface Agreement {
  readonly era: Era;
  readonly version: string;
  /** The server says that it announces changes of its tools. */
  readonly announcesTools: boolean;
  readonly hasTools: boolean;
}

export type HandshakeOutcome =
  | { readonly kind: 'agreed'; readonly agreement: Agreement }
  /** The server ended itself over the modern question; ask again on a fresh process, legacy only. */
  | { readonly kind: 'died-of-probe' }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface HandshakeOptions {
  readonly server: string;
  readonly client: { readonly name: string; readonly version: string };
  /** A remembered verdict; undefined asks the modern question first. */
  readonly known: Era | undefined;
  readonly timeoutMs: number;
}

/** Silence for this long makes `initialize` follow; the modern question stays open beside it. */
const probeSilenceMs = 3000;

/**
 * Finds the era. Over HTTP only an answer without a modern error says legacy; over stdio any error
 * does, and silence makes it likely. 401, 403, 5xx and timeouts over HTTP say nothing about the era.
 */
export async function shakeHands(wire: Wire, clock: Clock, options: HandshakeOptions): Promise<HandshakeOutcome> {
  if (options.known === 'legacy') return initialize(wire, options);
  wire.speak(modernEnvelope(modernVersion, options.client));
  const probe = wire
    .request(controlRequest('server/discover', {}, options.timeoutMs))
    .reply.then((reply) => judge(wire, reply));
  if (wire.transport === 'http') {
    const verdict = await probe;
    return verdict === 'legacy' ? initialize(wire, options) : verdict;
  }
  const early = await Promise.race([probe, silence(clock)]);
  if (early !== 'silent') return early === 'legacy' ? initialize(wire, options) : early;
  // A slow starter reads both questions in order, so a modern one still answers the first.
  const legacy = initialize(wire, options);
  const first = await Promise.race([probe, legacy]);
  if (first === 'legacy') return legacy;
  if (first.kind === 'agreed' && first.agreement.era === 'modern') {
    wire.speak(modernEnvelope(first.agreement.version, options.client));
  }
  return first;
}

function silence(clock: Clock): Promise<'silent'> {
  return sleep(clock, probeSilenceMs).then(() => 'silent');
}

function judge(wire: Wire, reply: WireReply): HandshakeOutcome | 'legacy' {
  if (reply.kind === 'result') {
    const supported = reply.value.supportedVersions;
    const common = Array.isArray(supported) ? modernVersions.find((version) => supported.includes(version)) : undefined;
    if (common === undefined) return 'legacy';
    return { kind: 'agreed', agreement: agreement('modern', common, reply.value.capabilities) };
  }
  if (reply.kind === 'error') return 'legacy';
  if (wire.transport === 'stdio') {
    if (reply.cause === 'connection') return { kind: 'died-of-probe' };
    return reply.error.code === 'UPSTREAM_TIMEOUT' ? 'legacy' : { kind: 'failed', failure: reply };
  }
  const { httpStatus } = reply;
  return httpStatus !== undefined && legacyStatuses.has(httpStatus) ? 'legacy' : { kind: 'failed', failure: reply };
}

/** Some legacy servers answer an unknown method with 200 and a body that is no JSON-RPC at all. */
const legacyStatuses: ReadonlySet<number> = new Set([200, 202, 400, 404, 405, 406, 415, 422]);

async function initialize(wire: Wire, options: HandshakeOptions): Promise<HandshakeOutcome> {
  wire.speak(legacyEnvelope(''));
  const params = { protocolVersion: legacyVersions[0], capabilities: {}, clientInfo: options.client };
  const reply = await wire.request(controlRequest('initialize', params, options.timeoutMs)).reply;
  if (reply.kind !== 'result') return { kind: 'failed', failure: asFailure(options.server, reply) };
  const version = reply.value.protocolVersion;
  if (typeof version !== 'string' || !legacyUpstreamVersions.includes(version)) {
    return { kind: 'failed', failure: garbled(options.server, `protocol version ${String(version).slice(0, 40)}`) };
  }
  wire.speak(legacyEnvelope(version));
  wire.notify('notifications/initialized');
  return { kind: 'agreed', agreement: agreement('legacy', version, reply.value.capabilities) };
}

function agreement(era: Era, version: string, capabilities: unknown): Agreement {
  const tools = isJsonObject(capabilities) ? capabilities.tools : undefined;
  return {
    era,
    version,
    hasTools: isJsonObject(tools),
    announcesTools: isJsonObject(tools) && tools.listChanged === true,
  };
}

function asFailure(server: string, reply: Exclude<WireReply, { kind: 'result' }>): WireFailure {
  if (reply.kind === 'failed') return reply;
  const error = new HubError('UPSTREAM_FAILED', `Server "${server}" refused the handshake: ${reply.message}`, {
    hint: 'Look at the logs of the server.',
    details: { server, upstreamCode: reply.code },
  });
  return { kind: 'failed', error, cause: 'answer', sent: true, httpStatus: undefined };
}
