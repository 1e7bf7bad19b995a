import { elementsOfMember } from '../../mcp/index.ts';
import { ask, controlRequest, type FailedReply, type Transport } from '../transport.ts';

/** A server's list, with all pages joined. */
export type Pages =
  | {
      readonly kind: 'read';
      /** The text of each entry. */
      readonly items: readonly string[];
      /** The list exceeded a limit and was cut. */
      readonly cut: boolean;
      /** The lifetime that the server gives, or 0. */
      readonly ttlMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly failure: FailedReply | undefined;
      /** The server does not have this list at all. */
      readonly unknown: boolean;
    };

export interface PagesOptions {
  /** For each page. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The most entries to read. */
  readonly maxItems?: number | undefined;
  /** The most characters to read, in all pages together. */
  readonly maxLength: number;
}

/** Bounds the pages, in case a defective server never ends its list. */
const maxPages = 64;
const usualItems = 10_000;
const methodNotFound = -32601;

/** Fails if any page fails, because half a list would hide the rest. */
export async function readPages(
  transport: Transport,
  method: string,
  member: string,
  options: PagesOptions,
): Promise<Pages> {
  const { maxItems = usualItems, maxLength } = options;
  const items: string[] = [];
  const ttls: number[] = [];
  let cursor: string | undefined;
  let length = 0;
  let dropped = false;
  for (let page = 0; page < maxPages && items.length < maxItems && length < maxLength; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const reply = await ask(transport, controlRequest(method, params, options.timeoutMs), options.signal);
    if (reply.kind === 'failed') return failed(reply.error.message, { failure: reply });
    if (reply.kind === 'error') return failed(reply.message, { unknown: reply.code === methodNotFound });
    const { nextCursor, ttlMs } = reply.value;
    const room = maxItems - items.length;
    const list = elementsOfMember(reply.text, member, room + 1);
    if (list === undefined) return failed(`no list of ${member}`);
    const fitting = fittingItems(list.slice(0, room), maxLength - length);
    for (const item of fitting) items.push(item);
    dropped ||= list.length > fitting.length;
    length += reply.text.length;
    ttls.push(typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0);
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    if (cursor === undefined) break;
  }
  return { kind: 'read', items, cut: cursor !== undefined || dropped, ttlMs: Math.min(...ttls) };
}

function fittingItems(list: readonly string[], room: number): readonly string[] {
  let left = room;
  const end = list.findIndex((item) => {
    left -= item.length;
    return left < 0;
  });
  return end < 0 ? list : list.slice(0, end);
}

function failed(
  reason: string,
  { failure, unknown = false }: { readonly failure?: FailedReply; readonly unknown?: boolean } = {},
): Pages {
  return { kind: 'failed', reason, failure, unknown };
}
