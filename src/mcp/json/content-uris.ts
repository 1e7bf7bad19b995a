import { HubError } from '../../base/index.ts';
import { parsedObject } from './lazy-members.ts';
import { membersOf } from './members.ts';
import { type Member, scanElements } from './scan-json.ts';

/** A resource has a few parts, and a part a few members. */
const maxContents = 10_000;
const maxMembers = 1000;

interface ReadResult {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * The result of a read with other URIs for its parts. Nothing but the URIs is parsed, and all else keeps its spelling.
 * Throws HubError if there are too many parts.
 */
export function renameContents<T extends ReadResult>(result: T, rename: (uri: string) => string): T {
  const { text } = result;
  const pieces: string[] = [];
  let done = 0;
  for (const { start, end } of uriSpans(text)) {
    const uri = JSON.parse(text.slice(start, end)) as string; // a JSON string parses to a string
    pieces.push(text.slice(done, start), JSON.stringify(rename(uri)));
    done = end;
  }
  if (done === 0) return result;
  const renamed = pieces.join('') + text.slice(done);
  return { ...result, text: renamed, value: parsedObject(renamed) };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Of repeated keys, too: a client may take another one than the hub. */
function* uriSpans(text: string): Iterable<Span> {
  for (const { key, start } of membersOf(text)) {
    if (key !== 'contents' || text[start] !== '[') continue;
    const parts = scanElements(text, start, maxContents + 1);
    if (parts.length > maxContents) throw tooMany(`${maxContents} parts`);
    for (const part of parts) {
      if (text[part.start] !== '{') continue;
      for (const member of membersOfPart(text.slice(part.start, part.end))) {
        const at = part.start + member.start;
        if (member.key === 'uri' && text[at] === '"') yield { start: at, end: part.start + member.end };
      }
    }
  }
}

function membersOfPart(part: string): readonly Member[] {
  try {
    return membersOf(part, maxMembers);
  } catch {
    throw tooMany(`${maxMembers} members in one part`);
  }
}

function tooMany(what: string): HubError {
  return new HubError('UPSTREAM_GARBLED', `The server's answer to a read has over ${what}.`);
}
