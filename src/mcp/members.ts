import { type Member, scanJson } from './scan-json.ts';

/**
 * An object's text with some of its members replaced, by their JSON text, or taken out, where that is undefined. The
 * rest stays as it was written. The text was parsed before, so that its depth is no question any more.
 */
export function withMembers(objectText: string, changes: Readonly<Record<string, string | undefined>>): string {
  const kept = membersOf(objectText)
    .filter(({ key }) => !Object.hasOwn(changes, key))
    .map(({ keyStart, end }) => objectText.slice(keyStart, end));
  const added = Object.entries(changes).flatMap(([key, text]) =>
    text === undefined ? [] : [`${JSON.stringify(key)}:${text}`],
  );
  return `{${[...kept, ...added].join(',')}}`;
}

/** Of an object that was parsed already. */
export function membersOf(objectText: string): readonly Member[] {
  const options = { maxDepth: Number.MAX_SAFE_INTEGER, rejectRepeatedKeys: false, collectDepth: 1 };
  return scanJson(objectText, options).members ?? [];
}
