import { oneLine } from './json/one-line.ts';

/**
 * A server-sent event with one message. It has an id if the stream can be resumed after it. A line break in the message
 * would let its author write an event of his own.
 */
export function sseEvent(json: string, id?: string): string {
  const message = oneLine(json);
  return id === undefined ? `event: message\ndata: ${message}\n\n` : `event: message\nid: ${id}\ndata: ${message}\n\n`;
}

/** An event without a message. It carries the id from which the stream can be resumed and the delay before that. */
export function ssePriming(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

export const sseComment = ': keep-alive\n\n';
