import type { HubError } from '../../../base/index.ts';
import { type Body, inTrace, readBody } from '../../../mcp/index.ts';
import type { Exchange } from '../exchange.ts';
import { sendStatus } from '../response.ts';
import type { KnownHeaders } from './known-headers.ts';
import { readRequestText } from './read-text.ts';

/** Reads the text of a posted body for one of two callbacks. A body that is not declared as JSON is refused. */
export function readPosted(
  { request, response, headers }: Exchange,
  maxBytes: number,
  onText: (text: string) => void,
  onRefused: (error: HubError) => void,
): void {
  if (isJson(headers['content-type'])) readRequestText(request, headers['content-length'], maxBytes, onText, onRefused);
  else sendStatus(response, 415);
}

/** The trace in the headers of a request applies to each message in it. */
export function bodyOf(text: string, { traceparent, tracestate }: KnownHeaders): Body {
  const body = readBody(text);
  if (traceparent === undefined) return body;
  return { ...body, messages: body.messages.map((message) => inTrace(message, traceparent, tracestate)) };
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType !== undefined && /^application\/json(?:\s*;|\s*$)/i.test(contentType);
}
