import { type KnownServerEntry, knownServerEntries } from './known-server-entries.ts';

/** An entry of the list with its tools as sets. */
export interface KnownServer extends Omit<KnownServerEntry, 'reads' | 'writes' | 'readsInMode' | 'destroys'> {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  readonly readsInMode: ReadonlySet<string>;
  readonly destroys: ReadonlySet<string>;
}

export const knownServers: readonly KnownServer[] = knownServerEntries.map((entry) => ({
  ...entry,
  reads: namesIn(entry.reads),
  writes: namesIn(entry.writes),
  readsInMode: namesIn(entry.readsInMode ?? ''),
  destroys: namesIn(entry.destroys ?? ''),
}));

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((name) => name !== ''));
}
