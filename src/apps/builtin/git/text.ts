import type { GitOutput } from './run-git.ts';

/** What git said, up to the last whole line where it was cut. Bytes that are no UTF-8 become U+FFFD. */
export function wholeLines({ stdout, cut }: GitOutput): string {
  return (cut ? stdout.subarray(0, stdout.lastIndexOf('\n') + 1) : stdout).toString('utf8');
}

/** What git said with `-z`, as fields; the last one is dropped where it may be a part of one. */
export function fieldsOf({ stdout, cut }: GitOutput): readonly string[] {
  const fields = stdout.toString('utf8').split('\0');
  if (cut || fields.at(-1) === '') fields.pop();
  return fields;
}

/** For the end of a text that does not hold everything. */
export function cutNote(maxBytes: number, narrower: string): string {
  return `[Cut: there is more than ${maxBytes} bytes. ${narrower}]`;
}

/** A name in a line of text: quoted where it would be misread. */
export function shownName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be shown raw
  return /^[^\s"'][^\u0000-\u001f\u007f"]*$/.test(name) && !/\s$/.test(name) ? name : JSON.stringify(name);
}

/** Enough to name a commit, and short enough for a line. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}
