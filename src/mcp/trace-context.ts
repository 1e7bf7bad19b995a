import { metaOf } from './classify.ts';
import type { Message } from './message.ts';

/**
 * Copies the trace context from the HTTP headers to the request's `_meta`. If both have one, `_meta` wins, because it
 * is MCP's own. Values that are not valid W3C Trace Context are ignored.
 */
export function inTrace(message: Message, traceparent: string, tracestate: string | undefined): Message {
  if (message.kind !== 'request' || !isTraceparent(traceparent)) return message;
  const { params } = message;
  const meta = metaOf(params);
  if (meta === undefined ? params._meta !== undefined : meta.traceparent !== undefined) return message;
  const state = tracestate !== undefined && passable.test(tracestate) ? { tracestate } : {};
  return { ...message, params: { ...params, _meta: { ...meta, traceparent, ...state } } };
}

/** Later versions may append data after the fourth field. */
function isTraceparent(text: string): boolean {
  const [, version, traceId, parentId, more] = form.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== '')) return false;
  return traceId !== noTrace && parentId !== noParent;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}((?:-[\x21-\x7e]{0,200})?)$/;
const noTrace = '0'.repeat(32);
const noParent = '0'.repeat(16);
/** 512 characters is the least that W3C Trace Context asks every participant to propagate. */
const passable = /^[\x20-\x7e]{1,512}$/;
