import { StringDecoder } from 'node:string_decoder';

/** One server-sent event that carries a message. */
export function sseEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

export const sseComment = ': keep-alive\n\n';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Reads a server-sent event stream piece by piece; a single event is bounded. */
export function createSseReader(onEvent: (event: SseEvent) => void, maxEventBytes: number): SseReader {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let event = 'message';
  let data: string[] = [];
  let size = 0;
  let id: string | undefined;

  function line(text: string): void {
    if (text === '') {
      if (data.length > 0) onEvent({ event, data: data.join('\n'), id });
      event = 'message';
      data = [];
      size = 0;
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === 'data') {
      data.push(value);
      size += value.length;
    } else if (field === 'event') event = value;
    else if (field === 'id') id = value;
  }

  return {
    push(chunk) {
      rest += decoder.write(chunk);
      let from = 0;
      for (let at = rest.indexOf('\n'); at >= 0; at = rest.indexOf('\n', from)) {
        const text = rest.slice(from, rest.charCodeAt(at - 1) === 13 && at > from ? at - 1 : at);
        // A lone CR ends a line too, though nobody has been seen to send one.
        if (text.includes('\r')) text.split('\r').forEach(line);
        else line(text);
        from = at + 1;
      }
      rest = rest.slice(from);
      return size + rest.length <= maxEventBytes;
    },
  };
}

export interface SseReader {
  /** False once a single event is over the bound; the stream is then to be given up. */
  push(chunk: Buffer): boolean;
}
