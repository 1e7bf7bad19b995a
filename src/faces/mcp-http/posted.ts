import type { HubError } from '../../base/index.ts';
import { type Body, inTrace, readBody } from '../../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import type { KnownHeaders } from './known-headers.ts';
import { readText } from './read-text.ts';
import { sendStatus } from './response.ts';

/** The text of a posted body, to one of two callbacks; what is no JSON by its own word is refused here. */
export function readPosted(
  { request, response, headers }: Exchange,
  maxBytes: number,
  onText: (text: string) => void,
  onRefused: (error: HubError) => void,
): void {
  if (isJson(headers['content-type'])) readText(request, headers['content-length'], maxBytes, onText, onRefused);
  else sendStatus(response, 415);
}

/** The trace that a request names in its headers is that of each message in it. */
export function bodyOf(text: string, { traceparent, tracestate }: KnownHeaders): Body {
  const body = readBody(text);
  if (traceparent === undefined) return body;
  return { ...body, messages: body.messages.map((message) => inTrace(message, traceparent, tracestate)) };
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType !== undefined && /^application\/json(?:\s*;|\s*$)/i.test(contentType);
}
