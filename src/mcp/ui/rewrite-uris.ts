import { afterJsonString, HubError } from '../../base/index.ts';
import { parsedObject } from '../json/lazy-members.ts';
import { membersOf } from '../json/members.ts';
import type { Member } from '../json/scan-json.ts';

/**
 * Whether valid JSON may hold a string that begins with `ui:` or `skill:`, in any spelling and letter case, because
 * schemes have none. One search through the text and nothing more, so that results without such a URI cost no parsing.
 * Inside a string a quote has a backslash before it, so every match begins a string.
 */
export function mayHoldScopedUri(jsonText: string): boolean {
  return jsonText.search(scopedStrings) >= 0;
}

const scopedStrings =
  /(?<!\\)"(?:([uU]|\\u00[57]5)(?:[iI]|\\u00[46]9)|(?:[sS]|\\u00[57]3)(?:[kK]|\\u00[46][bB])(?:[iI]|\\u00[46]9)(?:(?:[lL]|\\u00[46][cC])){2})(?::|\\u003[aA])/g;

/** The part of a result or a definition that is changed here. */
interface Rewritable {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * A result in which references to `ui://` and `skill://` resources are renamed: in content blocks, in what was read, in
 * messages and in `_meta`. Everything else keeps its spelling. `structuredContent` is data and stays as it is. Throws
 * HubError if there are too many references.
 */
export function rewriteResultUris<T extends Rewritable>(result: T, rename: (uri: string) => string): T {
  const text = rewrite(result.text, rename, refuse);
  return text === result.text ? result : { ...result, text, value: parsedObject(text) };
}

/** The same for the text of a definition. References beyond the bound lead nowhere: the bare scheme names nothing. */
export function rewriteReferences(objectText: string, rename: (uri: string) => string): string {
  return rewrite(objectText, rename, (isUi) => (isUi ? 'ui:' : 'skill:'));
}

function rewrite(objectText: string, rename: (uri: string) => string, beyond: (isUi: boolean) => string): string {
  if (!mayHoldScopedUri(objectText)) return objectText;
  const pieces: string[] = [];
  let done = 0;
  let count = 0;
  for (const { start, end, isUi } of referencesIn(objectText, referring(objectText))) {
    const isNamed = ++count <= maxReferences;
    // A JSON string parses to a string.
    const name = isNamed ? rename(JSON.parse(objectText.slice(start, end)) as string) : beyond(isUi);
    pieces.push(objectText.slice(done, start), JSON.stringify(name));
    done = end;
  }
  return done === 0 ? objectText : pieces.join('') + objectText.slice(done);
}

/** Each one costs several times its length, and makes the text longer. */
const maxReferences = 10_000;

function refuse(): never {
  const message = `The server's result refers to over ${maxReferences} user interfaces and skills.`;
  throw new HubError('UPSTREAM_GARBLED', message, { hint: 'Ask for less at once.' });
}

const referringMembers: ReadonlySet<string> = new Set(['content', 'contents', 'messages', '_meta']);

/** The members that hold references, in their order; those of a task's result are one level deeper. */
function referring(objectText: string): readonly Span[] {
  return membersOf(objectText).flatMap((member) => {
    if (member.key === 'result') return referringIn(objectText, member);
    return referringMembers.has(member.key) ? [member] : [];
  });
}

function referringIn(text: string, { start, end }: Span): readonly Span[] {
  if (text[start] !== '{') return [];
  let members: readonly Member[];
  try {
    members = membersOf(text.slice(start, end), maxTaskMembers);
  } catch {
    return refuse();
  }
  return members
    .filter(({ key }) => referringMembers.has(key))
    .map((member) => ({ start: start + member.start, end: start + member.end }));
}

/** No definition has so many, because of its size. */
const maxTaskMembers = 100_000;

interface Span {
  readonly start: number;
  readonly end: number;
}

const uriKeys: ReadonlySet<string> = new Set(['uri', 'resourceUri', 'ui/resourceUri', 'openai/outputTemplate']);

/** One pass through the text, however many spans there are. */
function* referencesIn(text: string, within: readonly Span[]): Iterable<Span & { readonly isUi: boolean }> {
  let next = 0;
  for (const { index: start, 1: isUi } of text.matchAll(scopedStrings)) {
    while ((within[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    const span = within[next];
    if (span === undefined) return;
    const key = start > span.start ? keyBefore(text, start) : undefined;
    if (key !== undefined && uriKeys.has(key))
      yield { start, end: afterJsonString(text, start), isUi: isUi !== undefined };
  }
}

/** Longer than each of the keys, with every character escaped. */
const maxKeyText = 160;

/** The key of the member whose value begins at `start`; undefined for an element of an array, and for a key itself. */
function keyBefore(text: string, start: number): string | undefined {
  const colon = beforeBlanks(text, start - 1);
  if (text[colon] !== ':') return undefined;
  const close = beforeBlanks(text, colon - 1);
  let open = close - 1;
  for (const limit = close - maxKeyText; open > limit && !isQuote(text, open); ) open--;
  if (!isQuote(text, open)) return undefined;
  const key = text.slice(open + 1, close);
  return key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key; // as above
}

/** Blanks belong to no other candidate, so walking back over them costs no more than reading the text once. */
function beforeBlanks(text: string, from: number): number {
  let at = from;
  while (at >= 0 && ' \n\r\t'.includes(text.charAt(at))) at--;
  return at;
}

function isQuote(text: string, at: number): boolean {
  return text[at] === '"' && text[at - 1] !== '\\';
}
