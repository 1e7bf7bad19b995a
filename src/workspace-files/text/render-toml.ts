import type { Plain } from './render-member.ts';

/** `key = value`, with maps inside as inline tables. */
export function renderTomlPair(key: string, value: Plain): string {
  return `${renderTomlKey([key])} = ${renderTomlValue(value)}`;
}

export function renderTomlKey(path: readonly string[]): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : quote(part))).join('.');
}

export function renderTomlValue(value: Plain): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object') return String(value);
  if (isPlainList(value)) return `[${value.map(renderTomlValue).join(', ')}]`;
  const pairs = Object.entries(value).map(([key, inner]) => renderTomlPair(key, inner));
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

export function isPlainList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}

/** The escapes of JSON are escapes of TOML; JSON leaves one control character as it is. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}
