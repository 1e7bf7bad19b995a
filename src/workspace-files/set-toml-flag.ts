import { type Edited, eolOf } from './edit-text.ts';

/**
 * Sets a key of the table whose header stands in that line; it is added right under the header where it is missing.
 * By lines alone: whoever writes the result reads it first.
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
