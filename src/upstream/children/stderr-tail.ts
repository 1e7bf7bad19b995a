/** The last bytes of a stream, in a buffer of fixed size. */
export interface StderrTail {
  push(chunk: Buffer): void;
  text(): string;
}

export function createStderrTail(capacity: number): StderrTail {
  const ring = Buffer.alloc(capacity);
  let next = 0;
  let full = false;

  return {
    push(chunk) {
      const kept = chunk.subarray(Math.max(0, chunk.length - capacity));
      const first = Math.min(kept.length, capacity - next);
      kept.copy(ring, next, 0, first);
      kept.copy(ring, 0, first);
      full ||= next + kept.length >= capacity;
      next = (next + kept.length) % capacity;
    },
    text() {
      if (!full) return ring.toString('utf8', 0, next);
      const bytes = Buffer.concat([ring.subarray(next), ring.subarray(0, next)]);
      return bytes.toString('utf8', firstWholeCharacter(bytes, pastCutSecret(bytes)));
    },
  };
}

/** Skips the rest of a cut line, up to the length of a secret: redaction would not recognise part of a secret. */
function pastCutSecret(bytes: Buffer): number {
  if (bytes.length < 4 * longSecret) return 0;
  const lineEnd = bytes.subarray(0, 4 * longSecret).indexOf(10);
  return lineEnd < 0 ? longSecret : lineEnd + 1;
}

const longSecret = 256;

/** The cut may fall inside a UTF-8 character, whose rest is up to three continuation bytes. */
function firstWholeCharacter(bytes: Buffer, from: number): number {
  let at = from;
  while (at < from + 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

const shownLines = 8;
const shownLength = 2000;

/** The lines of a tail that are worth showing to a person. */
export function lastLines(tail: string): string {
  const lines = tail.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line) => line !== '')
    .slice(-shownLines)
    .join('\n')
    .slice(-shownLength);
}

/** The line that most likely names the error: the last one, without the noise that programs print below it. */
export function lastStderrLine(tail: string): string {
  const lines = tail.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.findLast((line) => /^\S.*\p{L}/u.test(line) && !epilogue.test(line));
  return (telling ?? lines.at(-1) ?? '').trim();
}

/** Of Node and npm. Stack frames and the members of a dumped error are indented. */
const epilogue =
  /^Node\.js v\d|^npm (?:error|ERR!)(?: \d+)?(?:$| A complete log of this run| Note that you can| tarball, folder)/;
