import { definitionKinds } from '../../domain/index.ts';
import { canBeLocked, type LockedServer, type Lockfile, lockedLists } from './lockfile.ts';

/**
 * The text of a lockfile: sorted, with one definition per line, so that a pull request shows exactly the definitions that
 * changed and branches merge.
 */
export function formatLockfile(servers: Lockfile): string {
  const written = sorted(servers).map(([name, server]) => `${quoted(name)}: ${serverText(server)}`);
  return `{\n  "version": 1,\n  "servers": ${block(written, 4)}\n}\n`;
}

function serverText(server: LockedServer): string {
  const members = [
    ...(server.instructions === undefined ? [] : [`"instructions": ${quoted(server.instructions)}`]),
    ...definitionKinds.flatMap((kind) => mapMember(lockedLists[kind], server[kind])),
    ...mapMember('acknowledged', server.acknowledged),
  ];
  return block(members, 6);
}

function mapMember(name: string, entries: ReadonlyMap<string, string>): readonly string[] {
  const lines = sorted(entries).map(([key, value]) => `${quoted(key)}: ${quoted(value)}`);
  return lines.length === 0 ? [] : [`${quoted(name)}: ${block(lines, 8)}`];
}

function block(members: readonly string[], indent: number): string {
  if (members.length === 0) return '{}';
  const space = ' '.repeat(indent);
  return `{\n${members.map((member) => space + member).join(',\n')}\n${space.slice(2)}}`;
}

function sorted<Value>(entries: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...entries].filter(([name]) => canBeLocked(name)).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A reviewer must see every character of a name, so those that show nothing are escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\p{Z}\p{M}]/gu, (character) =>
    character === ' '
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  );
}
