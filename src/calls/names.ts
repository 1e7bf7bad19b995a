import { createHash } from 'node:crypto';
import type { Naming } from '../domain/index.ts';

/**
 * The names under which agents see tools. A name once given stays with its tool for the life of the
 * hub, so servers may come and go without renaming anybody else's tools.
 */
export interface NameBook {
  nameOf(server: string, tool: string): string;
  /** Tools that did not get the name they would have had alone. */
  readonly collisions: readonly Collision[];
}

export interface Collision {
  readonly wanted: string;
  readonly holder: string;
  readonly newcomer: string;
  readonly given: string;
}

/**
 * Strict clients allow 64 characters and count the prefix that they add themselves, the longest of
 * which is `mcp__<hub>__`; this leaves room for a hub that is called `quartermaster` there.
 */
export const maxNameLength = 64 - 'mcp__quartermaster__'.length;

export function createNameBook(naming: Naming): NameBook {
  const bySubject = new Map<string, string>();
  const holders = new Map<string, string>();
  const collisions: Collision[] = [];

  function firstFree(name: string, subject: string): string {
    let free = name;
    for (let attempt = 0; holders.has(free); attempt++) free = withHash(name, `${subject}\0${attempt}`);
    return free;
  }

  return {
    nameOf(server, tool) {
      const subject = subjectOf(server, tool);
      const known = bySubject.get(subject);
      if (known !== undefined) return known;
      const prefixed = prefixedName(server, tool);
      const wanted = naming === 'preserved' ? tool : prefixed;
      const holder = holders.get(wanted);
      const given = holder === undefined ? wanted : firstFree(prefixed, subject);
      if (holder !== undefined) collisions.push({ wanted, holder, newcomer: `${server}.${tool}`, given });
      holders.set(given, `${server}.${tool}`);
      bySubject.set(subject, given);
      return given;
    },
    collisions,
  };
}

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
