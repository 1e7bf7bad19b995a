import type { GitOutput } from './run-git.ts';

/** Git's output, up to the last complete line if it was cut. Invalid UTF-8 becomes U+FFFD. */
export function wholeLines({ stdout, cut }: GitOutput): string {
  return (cut ? stdout.subarray(0, stdout.lastIndexOf('\n') + 1) : stdout).toString('utf8');
}

/** Git's output with `-z`, as fields, without a last one that may be incomplete. */
export function gitFieldsOf({ stdout, cut }: GitOutput): readonly string[] {
  const fields = stdout.toString('utf8').split('\0');
  if (cut || fields.at(-1) === '') fields.pop();
  return fields;
}

/** Ends a text that is not complete. */
export function cutNote(maxBytes: number, narrower: string): string {
  return `[Truncated: the output has more than ${maxBytes} bytes. ${narrower}]`;
}

/** A name in a line of text, quoted if it would be misread. */
export function shownName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be shown raw
  return /^[^\s"'][^\u0000-\u001f\u007f"]*$/.test(name) && !/\s$/.test(name) ? name : JSON.stringify(name);
}

/** Long enough to identify a commit, and short enough for a line. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}
