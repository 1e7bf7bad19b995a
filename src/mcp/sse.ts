import { GatheredBytes } from '../base/index.ts';

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

const feedByte = 10;
const returnByte = 13;

/**
 * Reads a server-sent event stream piece by piece; a single event is bounded. Lines end with LF, CR or
 * both. A line that comes in many pieces is put together once, when it ends.
 */
export function createSseReader(onEvent: (event: SseEvent) => void, maxEventBytes: number): SseReader {
  let atStart = true;
  let afterReturn = false;
  /** Of a line that has not ended. */
  const rest = new GatheredBytes();
  let event = '';
  let data: string[] = [];
  let size = 0;
  let id: string | undefined;
  let over = false;

  function line(text: string, bytes: number): void {
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
      size += bytes;
    } else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) reader.retryMs = Number(value);
  }

  /** Whether the event would be over the bound with so much more of the line. */
  function isOver(bytes: number): boolean {
    over = size + rest.size + bytes > maxEventBytes;
    if (over) {
      rest.clear();
      data = [];
    }
    return over;
  }

  /** The line that ends here. Bytes of a line end are never part of another character. */
  function endLine(chunk: Buffer, from: number, to: number): void {
    const bytes = rest.size + to - from;
    const text =
      rest.size === 0 ? chunk.toString('utf8', from, to) : rest.take(chunk.subarray(from, to)).toString('utf8');
    const marked = atStart && text.charCodeAt(0) === 0xfeff;
    atStart = false;
    line(marked ? text.slice(1) : text, bytes);
  }

  const reader: { -readonly [key in keyof SseReader]: SseReader[key] } = {
    lastId: undefined,
    retryMs: undefined,
    push(chunk) {
      if (over) return false;
      if (chunk.length === 0) return true;
      let from = afterReturn && chunk[0] === feedByte ? 1 : 0;
      afterReturn = false;
      let feed = chunk.indexOf(feedByte, from);
      let carriage = chunk.indexOf(returnByte, from);
      while (feed >= 0 || carriage >= 0) {
        const at = carriage < 0 || (feed >= 0 && feed < carriage) ? feed : carriage;
        if (isOver(at - from)) return false;
        endLine(chunk, from, at);
        from = at + 1;
        if (at === carriage) {
          afterReturn = from === chunk.length;
          if (feed === from) from++;
          carriage = chunk.indexOf(returnByte, from);
        }
        if (feed >= 0 && feed < from) feed = chunk.indexOf(feedByte, from);
      }
      if (from === chunk.length) return true;
      if (isOver(chunk.length - from)) return false;
      rest.add(from === 0 ? chunk : chunk.subarray(from));
      return true;
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
