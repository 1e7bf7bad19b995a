import { createHash } from 'node:crypto';

/** A tool, resource, template or prompt under its exposed name, with its list text ready. All agents share it. */
export interface SharedEntry {
  /** The server's own name, URI or template. */
  readonly own: string;
  /** The exposed one. */
  readonly name: string;
  /** The definition as it appears in lists. */
  readonly text: string;
  /** A 48-bit digest of the text. */
  readonly digest: number;
  /** A decision depends on this and on the two names. */
  readonly fingerprint: string;
}

/** One list of a server at one time, for all agents. Immutable: a changed list makes a new one. */
export interface SharedList<Entry extends SharedEntry> {
  readonly server: string;
  /** Sorted by exposed name. */
  readonly entries: readonly Entry[];
  /** The index of an entry, by the server's own name. */
  readonly places: ReadonlyMap<string, number>;
  /** Unique across all lists of all servers. */
  readonly revision: number;
  readonly before: EarlierList | undefined;
}

/** The difference between two revisions of a list. Holds nothing of the earlier one, or none would ever be freed. */
export interface EarlierList {
  readonly revision: number;
  /** The earlier index of each entry, or -1 if it must be decided again. */
  readonly places: Int32Array;
  /** Entries with a new list text, by their index now. */
  readonly fresh: readonly number[];
  /** Entries whose list text is gone, by their earlier index. */
  readonly gone: readonly number[];
}

/** Returns the earlier list if nothing changed that an agent could notice. Unchanged entries are the earlier objects. */
export function renewList<Entry extends SharedEntry>(
  server: string,
  entries: readonly Entry[],
  nextRevision: () => number,
  earlier: SharedList<Entry> | undefined,
): SharedList<Entry> {
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (earlier !== undefined && isSameOrder(earlier.entries, sorted)) return earlier;
  return {
    server,
    entries: sorted,
    places: new Map(sorted.map(({ own }, index) => [own, index])),
    revision: nextRevision(),
    before: earlier && differenceFrom(earlier, sorted),
  };
}

export function textDigest(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}

/** The entry with this name of its server. */
export function entryIn<Entry extends SharedEntry>(
  list: SharedList<Entry> | undefined,
  own: string,
): Entry | undefined {
  const place = list?.places.get(own);
  return place === undefined ? undefined : list?.entries[place];
}

/** Whether a decision on one holds for the other, which has the same name at its server. */
export function isDecidedLike(known: SharedEntry | undefined, entry: SharedEntry): boolean {
  return known?.name === entry.name && known.fingerprint === entry.fingerprint;
}

function differenceFrom<Entry extends SharedEntry>(earlier: SharedList<Entry>, entries: readonly Entry[]): EarlierList {
  const places = new Int32Array(entries.length);
  const fresh: number[] = [];
  const same = new Set<Entry>();
  for (const [index, entry] of entries.entries()) {
    const place = earlier.places.get(entry.own) ?? -1;
    const known = earlier.entries[place];
    places[index] = isDecidedLike(known, entry) ? place : -1;
    if (known === entry) same.add(entry);
    else fresh.push(index);
  }
  const gone = earlier.entries.flatMap((entry, place) => (same.has(entry) ? [] : [place]));
  return { revision: earlier.revision, places, fresh, gone };
}

function isSameOrder<Entry>(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index]);
}
