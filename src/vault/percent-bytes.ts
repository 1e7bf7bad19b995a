/**
 * Decodes a run such as `%41%C3%A4` as UTF-8. Bytes that are not UTF-8 become one character each, as JavaScript's
 * `escape` writes them. With `cut`, an incomplete character at the end is dropped.
 */
export function bytesToCharacters(run: string, cut: boolean, add: (part: string, offset: number) => void): void {
  const bytes = Buffer.from(run.replaceAll('%', ''), 'hex');
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOf(bytes[at] ?? 0);
    const present = continued(bytes, at, length);
    if (cut && present < length && at + present === bytes.length) return;
    const character = present === length && length > 1 ? bytes.toString('utf8', at, at + length) : undefined;
    // Some sequences have the form of UTF-8 but encode no character.
    const isCharacter = character !== undefined && (!character.includes('\ufffd') || isReplacement(bytes, at));
    add(isCharacter ? character : String.fromCharCode(bytes[at] ?? 0), at * 3);
    at += isCharacter ? length : 1;
  }
}

function isReplacement(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
}

/** The length in bytes of the character that begins with this byte. */
function lengthOf(first: number): number {
  if (first >= 0xf0 && first < 0xf8) return 4;
  if (first >= 0xe0) return first < 0xf0 ? 3 : 1;
  return first >= 0xc2 ? 2 : 1;
}

/** How many of these bytes are present. */
function continued(bytes: Buffer, at: number, length: number): number {
  let present = 1;
  while (present < length && ((bytes[at + present] ?? 0) & 0xc0) === 0x80) present++;
  return present;
}
