import { parsedObject } from './json/lazy-members.ts';
import { type StringValue, stringValues } from './json/string-values.ts';
import { mayHoldScopedUri } from './ui/rewrite-uris.ts';
import { isUiUri } from './ui/scoped-uris.ts';

/**
 * What a string in a result is. `text` is shown to a model: a text block, the text of a resource, a message of a prompt.
 * `data` may be: structured content, descriptions, `_meta`. `fixed` is what programs go by: types, URIs, binary data.
 */
export type ResultString = 'text' | 'data' | 'fixed';

interface ChangeableResult {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A result with other strings. All else keeps its spelling, and the same object is returned if nothing changes. */
export function mapResultStrings<T extends ChangeableResult>(
  result: T,
  map: (text: string, kind: ResultString) => string,
): T {
  const text = mapStrings(result.text, map);
  return text === result.text ? result : { ...result, text, value: parsedObject(text) };
}

/** The text of an error with other strings. */
export function mapErrorStrings(errorText: string, map: (text: string) => string): string {
  return mapStrings(errorText, map, () => 'data');
}

type KindOf = (value: StringValue) => ResultString;

function mapStrings(
  objectText: string,
  map: (text: string, kind: ResultString) => string,
  kindOf: KindOf = kindInResult(objectText),
): string {
  const pieces: string[] = [];
  let done = 0;
  for (const value of stringValues(objectText)) {
    const kind = kindOf(value);
    if (kind === 'fixed') continue;
    const { start, end } = value;
    const text = JSON.parse(objectText.slice(start, end)) as string; // a JSON string parses to a string
    const mapped = map(text, kind);
    if (mapped === text) continue;
    pieces.push(objectText.slice(done, start), JSON.stringify(mapped));
    done = end;
  }
  return done === 0 ? objectText : pieces.join('') + objectText.slice(done);
}

/** A user interface is rendered by a program, whoever sent it. */
function kindInResult(objectText: string): KindOf {
  const interfaces = interfacesIn(objectText);
  return ({ keys, container }) => {
    const kind = kindAt(keys);
    return kind === 'text' && interfaces.has(container) ? 'data' : kind;
  };
}

/** Where the objects with a `ui://` URI begin. */
function interfacesIn(objectText: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (!mayHoldScopedUri(objectText)) return found;
  for (const { start, end, keys, container } of stringValues(objectText)) {
    if (keys.at(-1) === 'uri' && isUiUri(JSON.parse(objectText.slice(start, end)) as string)) found.add(container); // as above
  }
  return found;
}

/** The result of a task is one level deeper. */
function kindAt(keys: readonly string[]): ResultString {
  const from = keys[0] === 'result' ? 1 : 0;
  const [member, last] = [keys[from] ?? '', keys.at(-1) ?? ''];
  if (member === 'structuredContent' || member === '_meta' || member === 'completion') return 'data';
  if (!contentMembers.has(member)) return 'fixed';
  if (last === 'text' && shownPaths.has(keys.slice(from).join('.'))) return 'text';
  return fixedMembers.has(last) ? 'fixed' : 'data';
}

const contentMembers: ReadonlySet<string> = new Set(['content', 'contents', 'messages']);

const shownPaths: ReadonlySet<string> = new Set([
  ...['content.*.text', 'content.*.resource.text', 'contents.*.text'],
  ...['content', 'content.*'].flatMap((each) => [`messages.*.${each}.text`, `messages.*.${each}.resource.text`]),
]);

/** Members of content blocks and of resources that programs go by. */
const fixedMembers: ReadonlySet<string> = new Set(['type', 'role', 'uri', 'mimeType', 'data', 'blob', 'lastModified']);
