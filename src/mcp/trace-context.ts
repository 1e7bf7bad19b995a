import { metaOf } from './classify.ts';
import type { Message } from './message.ts';

/**
 * A request as if its `_meta` said which trace it belongs to, where only the headers of its HTTP request do. Of both,
 * `_meta` counts: it is MCP's own. What is not of the form of W3C Trace Context says nothing.
 */
export function inTrace(message: Message, traceparent: string, tracestate: string | undefined): Message {
  if (message.kind !== 'request' || !isTraceparent(traceparent)) return message;
  const { params } = message;
  const meta = metaOf(params);
  if (meta === undefined ? params._meta !== undefined : meta.traceparent !== undefined) return message;
  const state = tracestate !== undefined && passable.test(tracestate) ? { tracestate } : {};
  return { ...message, params: { ...params, _meta: { ...meta, traceparent, ...state } } };
}

/** A later version may say more after its fourth part. */
function isTraceparent(text: string): boolean {
  const [, version, traceId, parentId, more] = form.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== '')) return false;
  return traceId !== noTrace && parentId !== noParent;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}((?:-[\x21-\x7e]{0,200})?)$/;
const noTrace = '0'.repeat(32);
const noParent = '0'.repeat(16);
/** As long as whoever passes it on must at least manage. */
const passable = /^[\x20-\x7e]{1,512}$/;
