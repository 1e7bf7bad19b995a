import type { Edited } from './edit-text.ts';

/**
 * Removes the table whose header is on that line, with its sub-tables. Comments above a header belong to it, so those of
 * the next table stay. Works on lines without parsing, so the caller must parse the result before writing it.
 */
export function removeTomlTable(text: string, headerLine: number): Edited {
  const lines = text.split('\n');
  const header = headerLine - 1;
  const name = headerName(lines[header]);
  if (name === undefined) return { kind: 'unsupported' };
  const next = lines.findIndex((line, index) => {
    const other = index > header && /^\s*\[/.test(line) ? (headerName(line) ?? '') : undefined;
    return other !== undefined && !other.startsWith(`${name}.`);
  });
  let end = next < 0 ? lines.length : next;
  while (next >= 0 && end > header + 1 && /^\s*(?:#|$)/.test(lines[end - 1] ?? '')) end -= 1;
  const isSpaced = /^\s*$/.test(lines[header - 1] ?? '') && /^\s*$/.test(lines[end] ?? '');
  lines.splice(header, end - header + (isSpaced && next >= 0 ? 1 : 0));
  return { kind: 'edited', text: lines.join('\n') };
}

function headerName(line: string | undefined): string | undefined {
  return /^\s*\[([^[\]]+)\]/.exec(line ?? '')?.[1]?.trim();
}
