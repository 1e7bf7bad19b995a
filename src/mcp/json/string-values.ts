import { afterJsonString } from '../../base/index.ts';

/** A string that is a value, in the text of an object. */
export interface StringValue {
  readonly start: number;
  readonly end: number;
  /** The keys that lead to it; an array has the key `*` for its items. Valid until the next one is asked for. */
  readonly keys: readonly string[];
  /** Where the object begins that it is a member of; of an item of an array, where the array begins. */
  readonly container: number;
}

/** Longer keys have no meaning in the protocol, and are only counted. */
const maxKeyText = 64;

/** All of them in one pass. Only for valid JSON, which is an object. */
export function* stringValues(text: string): Iterable<StringValue> {
  const keys: string[] = [];
  const starts: number[] = [];
  let isKey = false;
  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, at)) {
    switch (text.charCodeAt(at)) {
      case openObject:
        keys.push('');
        starts.push(at);
        isKey = true;
        break;
      case openArray:
        keys.push(everyItem);
        starts.push(at);
        isKey = false;
        break;
      case closeObject:
      case closeArray:
        keys.pop();
        starts.pop();
        isKey = false;
        break;
      case comma:
        isKey = keys.at(-1) !== everyItem;
        break;
      default: {
        const end = afterJsonString(text, at);
        if (isKey) keys[keys.length - 1] = keyText(text.slice(at, Math.min(end, at + maxKeyText)));
        else yield { start: at, end, keys, container: starts.at(-1) ?? 0 };
        isKey = false;
        at = end - 1;
      }
    }
    at++;
  }
}

/** No JSON text begins so, hence no key has this text. */
const everyItem = '*';

/** A key as it is written between its quotes, if it is short and plain. A key of one `*` is not the mark of an array. */
function keyText(written: string): string {
  if (!written.endsWith('"') || written.length < 2) return '';
  const key = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1); // a JSON string
  return key === everyItem ? '' : key;
}

function nextMark(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isMark(text.charCodeAt(at))) at++;
  return at;
}

function isMark(code: number): boolean {
  return (
    code === quote ||
    code === comma ||
    code === openObject ||
    code === openArray ||
    code === closeObject ||
    code === closeArray
  );
}

const quote = 34;
const comma = 44;
const openArray = 91;
const closeArray = 93;
const openObject = 123;
const closeObject = 125;
