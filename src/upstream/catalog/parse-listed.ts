import { isDeeperThan, membersOf } from '../../mcp/index.ts';

/** More than a model can use. */
const maxLength = 256 * 1024;
const maxDepth = 64;

export type ParsedEntry =
  | { readonly kind: 'good'; readonly item: unknown }
  | { readonly kind: 'bad'; readonly reason: string };

/** One entry of a list. Whether it is too large is decided before it is parsed; the others of the list stay. */
export function parseListed(noun: string, text: string): ParsedEntry {
  if (text.length > maxLength) return leftOut(noun, text, `is over ${maxLength / 1024} kB`);
  if (isDeeperThan(text, maxDepth)) return leftOut(noun, text, `is nested deeper than ${maxDepth} levels`);
  return { kind: 'good', item: JSON.parse(text) };
}

function leftOut(noun: string, text: string, why: string): ParsedEntry {
  const name = nameIn(text);
  const which = name === undefined ? `a ${noun}` : `${noun} ${name}`;
  return { kind: 'bad', reason: `${which} was left out: its definition ${why}` };
}

const maxMembers = 1000;
const maxNameLength = 256;

/** As JSON, if it is there and short. */
function nameIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const name = membersOf(text, maxMembers).findLast(({ key }) => key === 'name');
    const isUsable = name !== undefined && text[name.start] === '"' && name.end - name.start <= maxNameLength;
    return isUsable ? text.slice(name.start, name.end) : undefined;
  } catch {
    // More members than a definition has.
    return undefined;
  }
}
