import { type Member, scanJson } from './scan-json.ts';

/**
 * Returns the object's text with some members replaced by JSON text, or removed where the change is undefined. The
 * other members keep their spelling. The text must have been parsed before, so its depth is already checked.
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

/** The members of an object that was parsed before. Throws ScanFailure if it has too many. */
export function membersOf(objectText: string, maxMembers: number = Number.POSITIVE_INFINITY): readonly Member[] {
  const options = { maxDepth: Number.MAX_SAFE_INTEGER, rejectRepeatedKeys: false, collectDepth: 1, maxMembers };
  return scanJson(objectText, options).members ?? [];
}
