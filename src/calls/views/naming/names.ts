import { createHash } from 'node:crypto';
import type { Naming } from '../../../domain/index.ts';
import { statusToolName } from '../../availability/status-tool.ts';

/**
 * The names under which agents see tools and prompts. They are assigned in configuration order, so the server
 * that is configured first gets a contested name, no matter which one answered first. A book is valid for one set of
 * catalogs. Tools and prompts have separate books.
 */
export interface NameBook {
  /** By the server's own name. */
  nameOf(server: string, own: string): string;
  /** For a server that has never listed anything: servers that come later do not get the names that it may turn out to have. */
  reserve(server: string): void;
  /** Entries that did not get their usual name because another server has it. */
  readonly collisions: readonly Collision[];
}

export interface Collision {
  /** The server of the renamed entry. */
  readonly server: string;
  readonly wanted: string;
  readonly holder: string;
  readonly newcomer: string;
  readonly given: string;
}

interface Named {
  readonly server: string;
  readonly own: string;
  readonly name: string;
}

/**
 * Strict clients allow 64 characters, including the prefix that they add. The longest prefix
 * is `mcp__<hub>__`. This leaves room for a hub with the name `quartermaster`.
 */
export const maxNameLength = 64 - 'mcp__quartermaster__'.length;

const hashLength = 8;

export function createNameBook(naming: Naming): NameBook {
  const bySubject = new Map<string, Named>();
  const holders = new Map<string, Named>();
  const reserved = createReservedNames();
  holders.set(statusToolName, { server: 'quartermaster', own: 'status', name: statusToolName });

  function wantedBy(server: string, own: string): string {
    return keepsName(own) ? own : prefixedName(server, own);
  }

  function keepsName(own: string): boolean {
    return naming === 'preserved' && !invisibleCharacters.test(own);
  }

  /** A name without the server in it may turn out to belong to any server. */
  function isFree(server: string, own: string): boolean {
    if (holders.has(wantedBy(server, own))) return false;
    return keepsName(own) ? reserved.isEmpty : !reserved.has(prefixedName(server, own));
  }

  function firstFree(server: string, own: string): string {
    const prefixed = prefixedName(server, own);
    return holders.has(prefixed) || reserved.has(prefixed) ? hashedName(server, own) : prefixed;
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
      const name = isFree(server, own) ? wantedBy(server, own) : firstFree(server, own);
      const named = { server, own, name };
      holders.set(named.name, named);
      bySubject.set(subjectOf(server, own), named);
      return named.name;
    },
    reserve: (server) => reserved.add(server),
    get collisions() {
      return [...bySubject.values()].flatMap(collisionsOf);
    },
  };
}

/** The prefixed names that servers may turn out to have. */
function createReservedNames() {
  const prefixes = new Set<string>();
  return {
    get isEmpty() {
      return prefixes.size === 0;
    },
    add(server: string): void {
      const prefix = clean(server);
      prefixes.add(prefix);
      // Before a hash at the end of a name that would be too long.
      prefixes.add(prefix.slice(0, maxNameLength - hashLength - 1));
    },
    has(prefixed: string): boolean {
      if (prefixes.size === 0) return false;
      for (let end = prefixed.indexOf('_'); end >= 0; end = prefixed.indexOf('_', end + 1)) {
        if (prefixes.has(prefixed.slice(0, end))) return true;
      }
      return prefixes.has(prefixed);
    },
  };
}

/** Control, direction and zero-width characters could make a name look like another one. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** `server_tool`, with characters and a length that every client accepts. */
export function prefixedName(server: string, tool: string): string {
  const prefix = clean(server);
  const rest = clean(tool);
  const name = rest.startsWith(`${prefix}_`) || rest === prefix ? rest : `${prefix}_${rest}`;
  return name.length <= maxNameLength ? name : withHash(name, subjectOf(server, tool));
}

/** Names may contain dots, so a dot as separator could not distinguish `a.b` + `c` from `a` + `b.c`. */
function subjectOf(server: string, tool: string): string {
  return `${server}\0${tool}`;
}

function withHash(name: string, seed: string): string {
  const hash = createHash('sha256').update(seed).digest('hex').slice(0, hashLength);
  return `${name.slice(0, maxNameLength - hash.length - 1)}_${hash}`;
}

function clean(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}
