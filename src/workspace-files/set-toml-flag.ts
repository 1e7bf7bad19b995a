import { type Edited, eolOf } from './edit-text.ts';

/**
 * Sets a key of the table whose header is on that line, adding it under the header if it is missing. Works on lines
 * without parsing, so the caller must parse the result before writing it.
 */
export function setTomlFlag(text: string, headerLine: number, key: string, on: boolean): Edited {
  const lines = text.split('\n');
  const header = headerLine - 1;
  if (!/^\s*\[[^[\]]+\]/.test(lines[header] ?? '')) return { kind: 'unsupported' };
  const next = lines.findIndex((line, index) => index > header && /^\s*\[/.test(line));
  const pattern = new RegExp(`^(\\s*${key}\\s*=\\s*)(?:true|false)\\b`);
  const at = lines.findIndex((line, index) => index > header && (next < 0 || index < next) && pattern.test(line));
  if (at >= 0) lines[at] = (lines[at] ?? '').replace(pattern, `$1${on}`);
  else lines.splice(header + 1, 0, `${key} = ${on}${eolOf(text).replace('\n', '')}`);
  return { kind: 'edited', text: lines.join('\n') };
}
