import { TextDecoder } from 'node:util';

/** The declared type of a body. */
export interface Media {
  /** `text/html`, in lower case; empty if undeclared. */
  readonly type: string;
  readonly charset: string | undefined;
}

/** How to show a body. */
export type Shape = 'html' | 'text' | 'binary';

export function readMedia(contentType: string | undefined): Media {
  const [essence = '', ...parameters] = (contentType ?? '').split(';');
  const charset = parameters.map((each) => /^\s*charset\s*=\s*["']?([\w:.+-]{1,40})/i.exec(each)?.[1]).find(Boolean);
  return { type: essence.trim().toLowerCase().slice(0, 100), charset };
}

/** Undefined if only the body can tell. */
export function shapeOf({ type }: Media): Shape | undefined {
  if (type === '') return undefined;
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  return textTypes.test(type) ? 'text' : 'binary';
}

const textTypes =
  /^(text\/.+|[^/]+\/(.+\+)?(json|xml|yaml)|application\/(x-)?(javascript|ecmascript|ndjson|jsonl|yaml|toml|sql|graphql|sh|www-form-urlencoded|tex))$/;

export function guessShape(body: Buffer): Shape {
  const start = body.subarray(0, sniffedBytes);
  if (start.includes(0) && bomOf(start) === undefined) return 'binary';
  return /^\W{0,100}<(!doctype html|html|head|body)\b/i.test(start.toString('latin1')) ? 'html' : 'text';
}

/** Takes the first known charset of: byte order mark, header, declaration in the document. */
export function createDecoder(body: Buffer, { charset }: Media): TextDecoder {
  const start = body.subarray(0, sniffedBytes);
  for (const label of [bomOf(start), charset, declaredCharset(start.toString('latin1'))]) {
    const decoder = label === undefined ? undefined : decoderOf(label);
    if (decoder !== undefined) return decoder;
  }
  return new TextDecoder();
}

const sniffedBytes = 1024;

function bomOf(start: Buffer): string | undefined {
  const [first, second, third] = start;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

function declaredCharset(start: string): string | undefined {
  const label = /<meta[^>]{1,300}?charset\s*=\s*["']?([\w:.+-]{1,40})/i.exec(start)?.[1];
  if (label !== undefined) return /^utf-?16/i.test(label) ? 'utf-8' : label;
  return /^\s*<\?xml[^>]{1,300}?encoding\s*=\s*["']([\w:.+-]{1,40})/i.exec(start)?.[1];
}

/** Undefined for an unknown charset. */
function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
