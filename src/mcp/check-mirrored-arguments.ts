import { isUtf8 } from 'node:buffer';
import { HubError, isJsonObject } from '../base/index.ts';
import type { MirroredArgument } from '../domain/index.ts';

/** HTTP headers by their name in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * A tool may want arguments repeated in `Mcp-Param-…` headers, so that proxies can decide on them. Returns the error if
 * the headers and the arguments differ.
 */
export function findHeaderMismatch(
  mirrored: readonly MirroredArgument[],
  args: unknown,
  headers: RequestHeaders,
): HubError | undefined {
  for (const { header, path } of mirrored) {
    const value = path.reduce<unknown>((node, key) => (isJsonObject(node) ? node[key] : undefined), args);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const name = `Mcp-Param-${header}`;
    const sent = headers[name.toLowerCase()];
    if (typeof sent !== 'string') return mismatch(`the ${name} header is missing`);
    if (!says(sent.trim(), value)) return mismatch(`the ${name} header differs from the body`);
  }
  return undefined;
}

function says(header: string, value: string | number | boolean): boolean {
  const text = decode(header);
  if (typeof value === 'number' && text !== undefined && decimal.test(text)) return Number(text) === value;
  return text === String(value);
}

const decimal = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Undefined for Base64 that is not canonical, or not UTF-8. */
function decode(header: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function mismatch(what: string): HubError {
  return new HubError('HEADER_MISMATCH', `Header mismatch: ${what}.`);
}
