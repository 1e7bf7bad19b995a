import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/index.ts';
import type { CacheSettings, Configuration, ServerSpec, ToolDefinition } from '../../domain/index.ts';
import { compileToolKind, type ToolKindOf } from '../../governance/index.ts';
import { withResultMembers } from '../../mcp/index.ts';
import type { ResultReply, UpstreamReply } from '../../upstream/index.ts';
import type { Call, CallRequest } from '../call.ts';
import { connectionOwnerOf } from '../connection-owner.ts';
import { isWithin } from '../subscriptions/subscribe-to-resource.ts';
import { carriedCapabilities, paramsOf, type Target } from '../target.ts';
import { CachedResults } from './cached-results.ts';

/** One call's use of its server's cache. The decision on the call always comes first. */
export interface CacheUse {
  /** The call may invalidate cached results. */
  readonly writes: boolean;
  /** The cached answer to the same call, if it is still valid. */
  find(target: Target, request: CallRequest): ResultReply | undefined;
  /** The call was sent, with the caller's input responses in `inputs` if there are any. */
  follow(target: Target, call: Call, inputs: string, reply: Promise<UpstreamReply>): Promise<UpstreamReply>;
}

/** The cached results, by server. */
export interface ResultCaches {
  /** Undefined if the server has no cache. */
  of(server: string): ResultCache | undefined;
  /** Invalidates the results of the server, or of one resource. */
  stale(server: string, uri?: string): void;
  /** Drops the results of servers that were removed or changed. */
  adopt(configuration: Configuration): void;
}

/** Caches nothing before a configuration is adopted. */
export function createResultCaches(deps: { readonly clock: Clock }): ResultCaches {
  const caches = new Map<string, ResultCache>();

  function adopt(configuration: Configuration): void {
    for (const name of caches.keys()) if (cachedSpec(configuration, name) === undefined) caches.delete(name);
    for (const name of configuration.servers.keys()) {
      const spec = cachedSpec(configuration, name);
      if (spec === undefined) continue;
      const known = caches.get(name);
      // A call in flight may still use it, and its writes must invalidate later results.
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

function cachedSpec(configuration: Configuration, name: string): CachedSpec | undefined {
  const server = configuration.servers.get(name);
  if (server?.kind !== 'ready' || !server.spec.enabled) return undefined;
  const { cache } = server.spec;
  return cache && { ...server.spec, cache };
}

const searchWindowMs = 100;
/** A few milliseconds. */
const maxSearched = 100_000;

/** The results of one server. */
export class ResultCache {
  readonly #clock: Clock;
  #spec: CachedSpec;
  #kindOf: ToolKindOf;
  #cached: CachedResults;
  /** Increases whenever results that are being read now may be outdated when they arrive. */
  #turn = 0;
  /** Results that were compared with changed URIs since then. */
  #searched = 0;
  #searchedSince = Number.NEGATIVE_INFINITY;
  /** Invalidates before and after a write, because a read during the write may return either state. */
  readonly #writer: CacheUse = {
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
    this.#cached = new CachedResults(spec.cache.maxBytes);
  }

  adopt(spec: CachedSpec): void {
    if (isDeepStrictEqual(spec, this.#spec)) return;
    this.#spec = spec;
    this.#kindOf = compileToolKind(spec);
    this.#cached = new CachedResults(spec.cache.maxBytes);
    this.#turn++;
  }

  /** Undefined for a tool that only reads and is not configured for the cache. */
  forTool({ name, hints, fingerprint }: ToolDefinition): CacheUse | undefined {
    const { tools } = this.#spec.cache;
    if (tools?.includes(name)) return this.#keeper(fingerprint);
    if (this.#kindOf(name, hints).kind !== 'reads') return this.#writer;
    return tools === undefined ? this.#keeper(fingerprint) : undefined;
  }

  forResource(): CacheUse | undefined {
    return this.#spec.cache.resources ? this.#keeper('') : undefined;
  }

  stale(uri?: string): void {
    this.#turn++;
    if (uri === undefined || !this.#maySearch()) this.#cached.clear();
    // A server may name the changed part, or the resource that contains it.
    else this.#cached.forgetUris((cached) => isWithin(uri, cached) || isWithin(cached, uri));
  }

  /** False if the server reports so many changes that searching for each of them would take too long. */
  #maySearch(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#searchedSince >= searchWindowMs) {
      this.#searchedSince = now;
      this.#searched = 0;
    }
    this.#searched += this.#cached.size;
    return this.#searched <= maxSearched;
  }

  #keeper(revision: string): CacheUse {
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
        // The result depends on the client's input, so other callers must not get it.
        if (inputs !== '' || call.wasAsked || !isComplete(answer)) this.#cached.forget(key);
        else this.#keep(target, key, answer);
        return answer;
      },
    };
  }

  #find(target: Target, key: string): ResultReply | undefined {
    const now = this.#clock.monotonic();
    const cached = this.#cached.find(key, now);
    if (cached === undefined) return undefined;
    const text = cached.bytes.toString();
    const value = JSON.parse(text) as ResultReply['value']; // it was an object when it was cached
    const result: ResultReply = { kind: 'result', id: null, text, value };
    return ownTtl(target, value) === undefined ? result : withTtl(result, Math.floor(cached.until - now));
  }

  #keep(target: Target, key: string, { text, value }: ResultReply): void {
    const ttlMs = Math.min(this.#spec.cache.ttlMs, ownTtl(target, value) ?? Number.POSITIVE_INFINITY);
    const uri = target.kind === 'resource' ? target.ownName : undefined;
    if (ttlMs > 0) this.#cached.keep(key, text, { until: this.#clock.monotonic() + ttlMs, uri });
    else this.#cached.forget(key);
  }
}

/** A digest of the request, the caller and the tool's definition. Its length is fixed. */
function keyOf(target: Target, request: CallRequest, revision: string): string {
  const { connectionKey } = target.control.spec;
  const owner = target.dispatch.isolated?.keyOf(connectionOwnerOf(request)) ?? '';
  const said = [target.method, paramsOf(target, request.argumentsText, ''), metaWithoutTrace(request.meta)];
  // A server that knows the client's capabilities may answer differently.
  const able = carriedCapabilities(request, target);
  return createHash('sha256')
    .update(JSON.stringify([connectionKey, revision, owner, able, ...said]))
    .digest('base64');
}

/** Leaves out the trace context: it differs for each call and does not affect the answer. */
function metaWithoutTrace(meta: string): string {
  if (!meta.includes('"trace')) return meta;
  const { traceparent: _, tracestate: __, ...rest } = JSON.parse(`{${meta}}`) as Record<string, unknown>; // members of an object
  return JSON.stringify(rest).slice(1, -1);
}

function isComplete(reply: UpstreamReply): reply is ResultReply {
  if (reply.kind !== 'result') return false;
  const { resultType, isError } = reply.value;
  return (resultType === undefined || resultType === 'complete') && isError !== true;
}

/** The lifetime that a modern server gives for a resource. In other results the member may mean anything. */
function ownTtl({ kind }: Target, { ttlMs }: ResultReply['value']): number | undefined {
  return kind === 'resource' && typeof ttlMs === 'number' ? ttlMs : undefined;
}

/** The result with the rest of its lifetime. */
function withTtl(result: ResultReply, ttlMs: number): ResultReply {
  return withResultMembers(result, { ttlMs });
}
