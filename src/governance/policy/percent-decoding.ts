/**
 * Everything that a program may get from a text by decoding percent signs: not at all, once, twice, or until nothing is
 * left to decode. `%2A` stays as it is in all of them, because a bare `*` means "anything" in rules.
 */
export function decodings(text: string): readonly string[] {
  if (!text.includes('%')) return [text];
  const once = decodeOnce(text);
  return [...new Set([decodeHarmless(text), once, decodeOnce(once), decodeAll(text)])];
}

/** What stands for itself whether it is encoded or not; the others are part of a URI's structure. */
function decodeHarmless(text: string): string {
  return text.replaceAll(encodedRun, (run) =>
    splitRun(run)
      .map((part) => (structural.test(part) ? part.toUpperCase() : decodeRun(part)))
      .join(''),
  );
}

function decodeOnce(text: string): string {
  return text.replaceAll(encodedRun, (run) =>
    splitRun(run)
      .map((part) => (/^%2a$/i.test(part) ? '%2A' : decodeRun(part)))
      .join(''),
  );
}

const encodedRun = /(?:%[0-9a-f]{2})+/gi;
/** `% * . / : ? @ # \` and control characters. */
const structural = /^%(?:25|2a|2e|2f|3a|3f|40|23|5c|0[0-9a-f]|1[0-9a-f]|7f)$/i;

/** Single characters where they are ASCII; what is more belongs together. */
function splitRun(run: string): string[] {
  return run.match(/%[0-7][0-9a-f]|(?:%[89a-f][0-9a-f])+/gi) ?? [];
}

/** Bytes that are no UTF-8 become the replacement character. */
function decodeRun(run: string): string {
  return Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8');
}

/** In one pass: whatever a decoded character completes is decoded as soon as it stands there. */
function decodeAll(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  for (const byte of bytes) {
    bytes[length++] = byte; // never ahead of what is read
    while (length >= 3 && bytes[length - 3] === percent) {
      const value = hexValue(bytes[length - 2]) * 16 + hexValue(bytes[length - 1]);
      if (Number.isNaN(value) || value === star) break;
      length -= 3;
      bytes[length++] = value;
    }
  }
  return bytes.toString('utf8', 0, length);
}

const percent = 0x25;
const star = 0x2a;

function hexValue(byte: number | undefined): number {
  return byte === undefined ? Number.NaN : (hexValues[byte] ?? Number.NaN);
}

const hexValues: Readonly<Record<number, number>> = Object.fromEntries(
  [...'0123456789abcdefABCDEF'].map((digit) => [digit.charCodeAt(0), Number.parseInt(digit, 16)]),
);
