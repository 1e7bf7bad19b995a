import { StringDecoder } from 'node:string_decoder';

/** One server-sent event that carries a message; with an id where its stream can be resumed after it. */
export function sseEvent(message: string, id?: string): string {
  return id === undefined ? `event: message\ndata: ${message}\n\n` : `event: message\nid: ${id}\ndata: ${message}\n\n`;
}

/** Carries nothing but the place from which a stream can be resumed, and how long to wait with that. */
export function ssePriming(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

export const sseComment = ': keep-alive\n\n';

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * Reads a server-sent event stream piece by piece; a single event is bounded. Lines end with LF, CR or
 * both. A line that comes in many pieces is put together once, when it ends.
 */
export function createSseReader(onEvent: (event: SseEvent) => void, maxEventBytes: number): SseReader {
  const decoder = new StringDecoder('utf8');
  let atStart = true;
  let afterReturn = false;
  let rest = '';
  let event = '';
  let data: string[] = [];
  let size = 0;
  let id: string | undefined;
  let over = false;

  function line(text: string): void {
    if (text === '') {
      // An event that breaks off does not count as seen.
      reader.lastId = id;
      if (data.length > 0) onEvent({ event: event === '' ? 'message' : event, data: data.join('\n'), id });
      event = '';
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
      size += text.length;
    } else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) reader.retryMs = Number(value);
  }

  /** Adds to the line that has not ended. */
  function grow(piece: string): boolean {
    rest += piece;
    over = size + rest.length > maxEventBytes;
    if (over) {
      rest = '';
      data = [];
    }
    return !over;
  }

  /** Where reading begins in the first text, or after a return that ended the last one. */
  function firstIndex(text: string): number {
    const skip = (atStart && text.charCodeAt(0) === 0xfeff) || (afterReturn && text.charCodeAt(0) === 10);
    atStart = false;
    afterReturn = false;
    return skip ? 1 : 0;
  }

  const reader: { -readonly [key in keyof SseReader]: SseReader[key] } = {
    lastId: undefined,
    retryMs: undefined,
    push(chunk) {
      if (over) return false;
      const text = decoder.write(chunk);
      if (text === '') return true;
      let from = firstIndex(text);
      let feed = text.indexOf('\n', from);
      let carriage = text.indexOf('\r', from);
      while (feed >= 0 || carriage >= 0) {
        const at = carriage < 0 || (feed >= 0 && feed < carriage) ? feed : carriage;
        if (!grow(text.slice(from, at))) return false;
        const whole = rest;
        rest = '';
        line(whole);
        from = at + 1;
        if (at === carriage) {
          afterReturn = from === text.length;
          if (feed === from) from++;
          carriage = text.indexOf('\r', from);
        }
        if (feed >= 0 && feed < from) feed = text.indexOf('\n', from);
      }
      return grow(text.slice(from));
    },
  };
  return reader;
}

export interface SseReader {
  /** Where the stream can be taken up again, if its server keeps it. */
  readonly lastId: string | undefined;
  /** How long the server wants to be left alone before that. */
  readonly retryMs: number | undefined;
  /** False once a single event is over the bound; the stream is then to be given up. */
  push(chunk: Buffer): boolean;
}
