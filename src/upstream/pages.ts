import { ask, controlRequest, type Wire, type WireFailure } from './wire.ts';

/** A list as a server gave it, all pages together. */
export type Pages =
  | {
      readonly kind: 'read';
      readonly items: readonly unknown[];
      /** There was more than anybody waits for. */
      readonly cut: boolean;
      /** How long the server says that it stays as it is; 0 where it says nothing. */
      readonly ttlMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly failure: WireFailure | undefined;
      /** The server does not have this list at all. */
      readonly unknown: boolean;
    };

export interface PagesOptions {
  /** For each page. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** More entries than this are not taken. */
  readonly maxItems?: number | undefined;
}

/** A list without end is a defect of the server, not a reason to wait without end. */
const maxPages = 64;
const usualItems = 10_000;
/** All pages together are no larger than a single message may be. */
const maxLength = 64 * 1024 * 1024;
const methodNotFound = -32601;

/** A page that fails fails the whole: half a list would hide the rest. */
export async function readPages(wire: Wire, method: string, member: string, options: PagesOptions): Promise<Pages> {
  const { maxItems = usualItems } = options;
  const items: unknown[] = [];
  const ttls: number[] = [];
  let cursor: string | undefined;
  let length = 0;
  let dropped = false;
  for (let page = 0; page < maxPages && items.length < maxItems && length < maxLength; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const reply = await ask(wire, controlRequest(method, params, options.timeoutMs), options.signal);
    if (reply.kind === 'failed') return failed(reply.error.message, { failure: reply });
    if (reply.kind === 'error') return failed(reply.message, { unknown: reply.code === methodNotFound });
    const { [member]: list, nextCursor, ttlMs } = reply.value;
    if (!Array.isArray(list)) return failed(`no list of ${member}`);
    const room = maxItems - items.length;
    for (const item of list.slice(0, room)) items.push(item);
    dropped ||= list.length > room;
    length += reply.text.length;
    ttls.push(typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0);
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    if (cursor === undefined) break;
  }
  return { kind: 'read', items, cut: cursor !== undefined || dropped, ttlMs: Math.min(...ttls) };
}

function failed(
  reason: string,
  { failure, unknown = false }: { readonly failure?: WireFailure; readonly unknown?: boolean } = {},
): Pages {
  return { kind: 'failed', reason, failure, unknown };
}
