import { isJsonObject } from '../../base/index.ts';
import { unparsedText } from './lazy-members.ts';
import { membersOf } from './members.ts';
import { scanElements } from './scan-json.ts';

/** The text of a result's first content block; only its beginning if it is long. Reads nothing else of the content. */
export function firstTextOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const unparsed = unparsedText(value, 'content');
  if (unparsed !== undefined) return firstTextIn(unparsed);
  const first: unknown = Array.isArray(value.content) ? value.content[0] : undefined;
  const text = isJsonObject(first) ? first.text : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** More than anybody stores of an error. */
const maxLength = 64 * 1024;
const maxMembers = 1000;

function firstTextIn(content: string): string | undefined {
  const [first] = content.startsWith('[') ? scanElements(content, 0, 1) : [];
  if (first === undefined || content[first.start] !== '{') return undefined;
  const block = content.slice(first.start, first.end);
  try {
    const text = membersOf(block, maxMembers).findLast(({ key }) => key === 'text');
    return text === undefined || block[text.start] !== '"' ? undefined : beginningOf(block.slice(text.start, text.end));
  } catch {
    // It has more members than a content block can have.
    return undefined;
  }
}

/** The ellipsis tells redaction that a secret may be cut off. */
function beginningOf(json: string): string {
  if (json.length <= maxLength) return JSON.parse(json) as string; // the text of a string
  return `${JSON.parse(`${withoutHalfEscape(json.slice(0, maxLength))}"`) as string}…`; // as above
}

function withoutHalfEscape(cut: string): string {
  const last = cut.lastIndexOf('\\');
  let before = last;
  while (before >= 0 && cut[before - 1] === '\\') before--;
  // Of an even number, each second one is escaped by the one before it.
  if (last < 0 || (last - before) % 2 === 1) return cut;
  const length = cut[last + 1] === 'u' ? 6 : 2;
  return cut.length - last < length ? cut.slice(0, last) : cut;
}
