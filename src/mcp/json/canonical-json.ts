import { isJsonObject } from '../../base/index.ts';

/** JSON with sorted keys, so that key order does not matter. */
export function canonicalJson(value: unknown): string {
  const pieces: string[] = [];
  write(value, pieces);
  return pieces.join('');
}

/** Joined once, at the end: otherwise each level would copy all that is inside it. */
function write(value: unknown, pieces: string[]): void {
  if (Array.isArray(value)) writeArray(value, pieces);
  else if (isJsonObject(value)) writeObject(value, pieces);
  else pieces.push(JSON.stringify(value) ?? 'null');
}

function writeArray(items: readonly unknown[], pieces: string[]): void {
  pieces.push('[');
  items.forEach((item, index) => {
    if (index > 0) pieces.push(',');
    write(item, pieces);
  });
  pieces.push(']');
}

function writeObject(value: Readonly<Record<string, unknown>>, pieces: string[]): void {
  pieces.push('{');
  let separator = '';
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue;
    pieces.push(separator, JSON.stringify(key), ':');
    write(value[key], pieces);
    separator = ',';
  }
  pieces.push('}');
}
