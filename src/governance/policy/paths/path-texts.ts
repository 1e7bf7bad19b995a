/** Longer paths cannot be opened, and the limit bounds the work per path. */
export const maxPathLength = 4096;

/**
 * The texts that a server may make of a path: as written, without white space and quotes around it, decoded, with other
 * slashes, and without characters that some file systems drop. Undefined if no file system takes it. The most ordinary
 * path has one.
 */
export function pathTexts(written: string): readonly string[] | undefined {
  if (written === '') return ['.'];
  if (written.length > maxPathLength || controlCharacter.test(written)) return undefined;
  if (plainCharacters.test(written) && !dotAtEnd.test(written)) return [written];
  const texts = new Set([written, written.normalize('NFC'), written.normalize('NFD'), written.replaceAll('\\', '/')]);
  let loose = written;
  for (const step of loosenings) {
    const next = step(loose);
    if (next === undefined || controlCharacter.test(next)) return undefined;
    if (next !== '') texts.add(next);
    loose = next;
  }
  return [...texts];
}

/** Nothing in such a path can be read in two ways, unless a name ends with a dot. */
const plainCharacters = /^[A-Za-z0-9_@+=,./-]+$/;
const dotAtEnd = /[^./]\.+(?:\/|$)/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they end a path in C, or a line in a log.
const controlCharacter = /[\u0000-\u001f\u007f]/;

/** Applied one after another, each to what the one before made. */
const loosenings: readonly ((text: string) => string | undefined)[] = [
  unquoted,
  withoutScheme,
  decoded,
  decoded,
  decoded,
  (text) => text.normalize('NFKC').replace(invisible, ''),
  (text) => text.replaceAll('\\', '/'),
  (text) => text.replace(/^[A-Za-z]:(?=\/|$)/, ''),
  (text) => text.split('/').map(withoutTail).join('/'),
];

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

function unquoted(text: string): string {
  return text.trim().replace(/^["'`]|["'`]$/g, '');
}

function withoutScheme(text: string): string {
  return text.replace(/^file:(?:\/\/[^/]*)?(?=\/)/i, '');
}

/** Undefined if the text is encoded in a way that servers read differently. */
function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // `100%` is an ordinary name, `%c0%ae` is a way to write a dot that some decoders accept.
    return /%[0-9a-f]{2}/i.test(text) ? undefined : text;
  }
}

/** Windows ignores dots and spaces at the end of a name. */
function withoutTail(segment: string): string {
  if (segment === '.' || segment === '..') return segment;
  let end = segment.length;
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end--;
  return end === 0 ? segment : segment.slice(0, end);
}
