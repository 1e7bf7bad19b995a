import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/index.ts';
import type { CacheSettings, Fleet, ServerSpec, ToolDefinition } from '../domain/index.ts';
import { compileToolKind, type ToolKindOf } from '../governance/index.ts';
import { withMembers } from '../mcp/index.ts';
import type { WireReply, WireResult } from '../upstream/index.ts';
import type { Call, CallRequest } from './call.ts';
import { KeptResults } from './kept-results.ts';
import { seatOf } from './seat.ts';
import { carriedCapabilities, membersOf, type Target } from './target.ts';
import { isWithin } from './watch-resource.ts';

/** What a call means for the results of its server that are kept. The decision on the call comes first, always. */
export interface Keeping {
  /** The call may change what others have read. */
  readonly writes: boolean;
  /** What the server said to the same call before, where that still holds. */
  find(target: Target, request: CallRequest): WireResult | undefined;
  /** The call went out, with answers to questions where `inputs` has some. The reply comes when it was dealt with. */
  follow(target: Target, call: Call, inputs: string, reply: Promise<WireReply>): Promise<WireReply>;
}

/** The results that are kept, by server. */
export interface ResultCaches {
  /** Undefined where nothing is kept. */
  of(server: string): ResultCache | undefined;
  /** What was read of the server may be wrong by now; with a URI, of that resource. */
  stale(server: string, uri?: string): void;
  /** Of servers whose entry is gone or is another one nothing is left. */
  adopt(fleet: Fleet): void;
}

/** Nothing is kept before a fleet is adopted. */
export function createResultCaches(deps: { readonly clock: Clock }): ResultCaches {
  const caches = new Map<string, ResultCache>();

  function adopt(fleet: Fleet): void {
    for (const name of caches.keys()) if (cachedSpec(fleet, name) === undefined) caches.delete(name);
    for (const name of fleet.servers.keys()) {
      const spec = cachedSpec(fleet, name);
      if (spec === undefined) continue;
      const known = caches.get(name);
      // A call under way may hold on to it, and what that writes concerns those who come later.
      if (known === undefined) caches.set(name, new ResultCache(deps.clock, spec));
      else known.adopt(spec);
    }
  }

  return {
    of: (server) => caches.get(server),
    stale: (server, uri) => caches.get(server)?.stale(uri),
    adopt,
  };
}

type CachedSpec = ServerSpec & { readonly cache: CacheSettings };

function cachedSpec(fleet: Fleet, name: string): CachedSpec | undefined {
  const server = fleet.servers.get(name);
  if (server?.kind !== 'ready' || !server.spec.enabled) return undefined;
  const { cache } = server.spec;
  return cache && { ...server.spec, cache };
}

/** The results of one server. */
export class ResultCache {
  readonly #clock: Clock;
  #spec: CachedSpec;
  #kindOf: ToolKindOf;
  #kept: KeptResults;
  /** Goes up whenever what is being read at the moment may be wrong before it arrives. */
  #turn = 0;
  /** Twice: what is read while something is written may be from before it or from after it. */
  readonly #writer: Keeping = {
    writes: true,
    find: () => undefined,
    follow: (_target, _call, _inputs, reply) => {
      this.stale();
      return reply.finally(() => this.stale());
    },
  };

  constructor(clock: Clock, spec: CachedSpec) {
    this.#clock = clock;
    this.#spec = spec;
    this.#kindOf = compileToolKind(spec);
    this.#kept = new KeptResults(spec.cache.maxBytes);
  }

  adopt(spec: CachedSpec): void {
    if (isDeepStrictEqual(spec, this.#spec)) return;
    this.#spec = spec;
    this.#kindOf = compileToolKind(spec);
    this.#kept = new KeptResults(spec.cache.maxBytes);
    this.#turn++;
  }

  /** Undefined for a tool that reads and is not asked to be kept. */
  forTool({ name, hints, fingerprint }: ToolDefinition): Keeping | undefined {
    const { tools } = this.#spec.cache;
    if (tools?.includes(name)) return this.#keeper(fingerprint);
    if (this.#kindOf(name, hints).kind !== 'reads') return this.#writer;
    return tools === undefined ? this.#keeper(fingerprint) : undefined;
  }

  forResource(): Keeping | undefined {
    return this.#spec.cache.resources ? this.#keeper('') : undefined;
  }

  stale(uri?: string): void {
    this.#turn++;
    if (uri === undefined) this.#kept.clear();
    // A server may name the part that changed, or what it is a part of.
    else this.#kept.forgetUris((kept) => isWithin(uri, kept) || isWithin(kept, uri));
  }

  #keeper(revision: string): Keeping {
    return {
      writes: false,
      find: (target, request) => {
        if (request.inputs !== undefined && request.inputs !== '') return undefined;
        return this.#find(target, keyOf(target, request, revision));
      },
      follow: async (target, call, inputs, reply) => {
        const key = keyOf(target, call.request, revision);
        const turn = this.#turn;
        const answer = await reply;
        if (turn !== this.#turn) return answer;
        // What the client said in between is for nobody else.
        if (inputs !== '' || call.wasAsked || !isComplete(answer)) this.#kept.forget(key);
        else this.#keep(target, key, answer);
        return answer;
      },
    };
  }

  #find(target: Target, key: string): WireResult | undefined {
    const now = this.#clock.monotonic();
    const kept = this.#kept.find(key, now);
    if (kept === undefined) return undefined;
    const text = kept.bytes.toString();
    const value = JSON.parse(text) as WireResult['value']; // it was an object when it was kept
    const result: WireResult = { kind: 'result', id: null, text, value };
    return ownTtl(target, value) === undefined ? result : withTtl(result, Math.floor(kept.until - now));
  }

  #keep(target: Target, key: string, { text, value }: WireResult): void {
    const ttlMs = Math.min(this.#spec.cache.ttlMs, ownTtl(target, value) ?? Number.POSITIVE_INFINITY);
    const uri = target.kind === 'resource' ? target.ownName : undefined;
    if (ttlMs > 0) this.#kept.keep(key, text, { until: this.#clock.monotonic() + ttlMs, uri });
    else this.#kept.forget(key);
  }
}

/** What the server is told, by whom, and what it meant when it was listed. Of one length, whatever is asked. */
function keyOf(target: Target, request: CallRequest, revision: string): string {
  const { connectionKey } = target.control.spec;
  const seat = target.dispatch.seats?.keyOf(seatOf(request)) ?? '';
  const said = [target.method, membersOf(target, request.argumentsText, ''), metaWithoutTrace(request.meta)];
  // A server that is told what the client can do may say less to one that can do less.
  const able = carriedCapabilities(request, target);
  return createHash('sha256')
    .update(JSON.stringify([connectionKey, revision, seat, able, ...said]))
    .digest('base64');
}

/** Each call has a trace of its own, and none is answered by it. */
function metaWithoutTrace(meta: string): string {
  if (!meta.includes('"trace')) return meta;
  const { traceparent: _, tracestate: __, ...rest } = JSON.parse(`{${meta}}`) as Record<string, unknown>; // members of an object
  return JSON.stringify(rest).slice(1, -1);
}

function isComplete(reply: WireReply): reply is WireResult {
  if (reply.kind !== 'result') return false;
  const { resultType, isError } = reply.value;
  return (resultType === undefined || resultType === 'complete') && isError !== true;
}

/** How long a modern server says that a resource holds; anything else may mean anything by that word. */
function ownTtl({ kind }: Target, { ttlMs }: WireResult['value']): number | undefined {
  return kind === 'resource' && typeof ttlMs === 'number' ? ttlMs : undefined;
}

/** Some of its time is over. */
function withTtl(result: WireResult, ttlMs: number): WireResult {
  const text = withMembers(result.text, { ttlMs: String(ttlMs) });
  return { ...result, text, value: { ...result.value, ttlMs } };
}
