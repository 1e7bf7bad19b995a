import { createHash } from 'node:crypto';
import type { GivenName, Naming } from '../domain/index.ts';
import { statusToolName } from './status-tool.ts';

/**
 * The names under which agents see what servers offer. A name once given stays with what it was given to, so servers
 * may come and go without renaming anything of another. Tools and prompts have a book each.
 */
export interface NameBook {
  /** By what the server itself calls it. */
  nameOf(server: string, own: string): string;
  /** Those that did not get the name they would have had alone. */
  readonly collisions: readonly Collision[];
}

export interface Collision {
  /** Of the newcomer. */
  readonly server: string;
  readonly wanted: string;
  readonly holder: string;
  readonly newcomer: string;
  readonly given: string;
}

/** What was given outlives the book: a restart must not rename anything. */
export interface NameMemory {
  readonly given: Iterable<Named>;
  remember(named: Named): void;
}

type Named = Pick<GivenName, 'server' | 'own' | 'name'>;

/**
 * Strict clients allow 64 characters and count the prefix that they add themselves, the longest of
 * which is `mcp__<hub>__`; this leaves room for a hub that is called `quartermaster` there.
 */
export const maxNameLength = 64 - 'mcp__quartermaster__'.length;

/** Names that are kept for one server. More come only from a server that calls its tools something else each time. */
export const mostNames = 20_000;

/** Without a memory the names last as long as the book. */
export function createNameBook(naming: Naming, memory?: NameMemory): NameBook {
  const bySubject = new Map<string, Named>();
  const holders = new Map<string, Named>();
  const counts = new Map<string, number>();
  holders.set(statusToolName, { server: 'quartermaster', own: 'status', name: statusToolName });
  for (const named of memory?.given ?? []) if (isFree(named)) take(named);

  function isFree({ server, own, name }: Named): boolean {
    return !holders.has(name) && !bySubject.has(subjectOf(server, own));
  }

  function take(named: Named): void {
    counts.set(named.server, (counts.get(named.server) ?? 0) + 1);
    holders.set(named.name, named);
    bySubject.set(subjectOf(named.server, named.own), named);
  }

  function wantedBy(server: string, own: string): string {
    return naming === 'preserved' && !unseenCharacters.test(own) ? own : prefixedName(server, own);
  }

  function firstFree(server: string, own: string): string {
    const prefixed = prefixedName(server, own);
    return holders.has(prefixed) ? hashedName(server, own) : prefixed;
  }

  function hashedName(server: string, own: string): string {
    const prefixed = prefixedName(server, own);
    for (let attempt = 0; ; attempt++) {
      const name = withHash(prefixed, `${subjectOf(server, own)}\0${attempt}`);
      if (!holders.has(name)) return name;
    }
  }

  function collisionsOf({ server, own, name }: Named): Collision[] {
    const wanted = wantedBy(server, own);
    const holder = holders.get(wanted);
    if (wanted === name || holder === undefined) return [];
    return [{ server, wanted, holder: `${holder.server}.${holder.own}`, newcomer: `${server}.${own}`, given: name }];
  }

  return {
    nameOf(server, own) {
      const known = bySubject.get(subjectOf(server, own));
      if (known !== undefined) return known.name;
      // Not kept: the same tool gets the same name again as long as its server has too many.
      if ((counts.get(server) ?? 0) >= mostNames) return hashedName(server, own);
      const wanted = wantedBy(server, own);
      const named = { server, own, name: holders.has(wanted) ? firstFree(server, own) : wanted };
      take(named);
      memory?.remember(named);
      return named.name;
    },
    get collisions() {
      return [...bySubject.values()].flatMap(collisionsOf);
    },
  };
}

/** Control, direction and zero-width characters: with them a name could look like another's. */
const unseenCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** `server_tool`, in the characters and the length that every client takes. */
export function prefixedName(server: string, tool: string): string {
  const prefix = clean(server);
  const rest = clean(tool);
  const name = rest.startsWith(`${prefix}_`) || rest === prefix ? rest : `${prefix}_${rest}`;
  return name.length <= maxNameLength ? name : withHash(name, subjectOf(server, tool));
}

/** Names hold dots, so a dot between them would not tell `a.b` + `c` from `a` + `b.c`. */
function subjectOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}

function withHash(name: string, seed: string): string {
  const hash = createHash('sha256').update(seed).digest('hex').slice(0, 8);
  return `${name.slice(0, maxNameLength - hash.length - 1)}_${hash}`;
}

function clean(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}
