import type { FindingKind, Quote, TextFinding } from './definition-finding.ts';
import { withoutHidden } from './hidden-characters.ts';
import { isDistinctName, type ScannedDefinition } from './scan-definition.ts';

/** A tool with what its definition shows. */
export interface ScannedTool extends ScannedDefinition {
  readonly name: string;
}

/** A finding with its place. */
export interface ServerFinding extends TextFinding {
  readonly server: string;
  readonly subject: string | null;
}

export type ScannedServers = ReadonlyMap<string, readonly ScannedTool[]>;

/** Names by which a tool of one server could be taken for one of another, and definitions that speak of others' tools. */
export function findShadowedNames(servers: ScannedServers): readonly ServerFinding[] {
  return [...sameNames(servers), ...lookAlikes(servers), ...foreignTools(servers)];
}

/** One finding for each pair of servers: two servers of one kind share most of their names. */
function* sameNames(servers: ScannedServers): Generator<ServerFinding> {
  const holders = new Map<string, string>();
  for (const [server, tools] of servers) {
    const shared = new Map<string, string[]>();
    for (const { name } of tools) {
      const holder = holders.get(name);
      if (holder === undefined) holders.set(name, server);
      else if (holder !== server) addTo(shared, holder, name);
    }
    for (const [holder, names] of shared) {
      const says = (quote: Quote): string =>
        `has tools with the names of tools of server ${holder}: ${listed(names, quote)}`;
      const text = JSON.stringify([holder, names.toSorted()]);
      yield { ...found('same-name', 'note', { at: 'name', says, text }), server, subject: null };
    }
  }
}

function* lookAlikes(servers: ScannedServers): Generator<ServerFinding> {
  const holders = new Map<string, { readonly server: string; readonly name: string }>();
  for (const [server, tools] of servers) {
    for (const { name } of tools) {
      const look = lookOf(name);
      const holder = holders.get(look);
      if (holder === undefined) holders.set(look, { server, name });
      else if (holder.name !== name) {
        const says = (quote: Quote): string => `has a name that looks like ${quote(`${holder.server}.${holder.name}`)}`;
        const text = JSON.stringify([holder.server, holder.name, name]);
        yield { ...found('look-alike-name', 'warning', { at: 'name', says, text }), server, subject: name };
      }
    }
  }
}

/** A server has no reason to speak of tools that it does not have. */
function* foreignTools(servers: ScannedServers): Generator<ServerFinding> {
  const owners = ownersOf(servers);
  for (const [server, tools] of servers) {
    const own = new Set(tools.map(({ name }) => name));
    for (const { name, words } of tools) {
      let count = 0;
      for (const [word, at] of words) {
        const owner = owners.get(word);
        if (owner === undefined || owner === server || own.has(word)) continue;
        if (count === mostForeign) break;
        count++;
        const says = (quote: Quote): string => `speaks of ${quote(word)}, which is a tool of server ${owner}`;
        const text = JSON.stringify([owner, word, at]);
        yield { ...found('foreign-tool', 'warning', { at, says, text }), server, subject: name };
      }
    }
  }
}

/** Of one tool. */
const mostForeign = 10;

/** The server of each name by which a text could mean one of its tools. */
function ownersOf(servers: ScannedServers): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const [server, tools] of servers) {
    for (const { name } of tools) {
      const spellings = [`${server}.${name}`, `${server}_${name}`, `mcp__${server}__${name}`];
      for (const spelling of isDistinctName(name) ? [name, ...spellings] : spellings) {
        if (!owners.has(spelling)) owners.set(spelling, server);
      }
    }
  }
  return owners;
}

function found(
  kind: FindingKind,
  severity: TextFinding['severity'],
  { at, says, text }: Pick<TextFinding, 'at' | 'says' | 'text'>,
): TextFinding {
  return { kind, rule: kind, severity, at, says, text };
}

function addTo(lists: Map<string, string[]>, key: string, name: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [name]);
  else list.push(name);
}

const mostListed = 5;

function listed(names: readonly string[], quote: Quote): string {
  const more = names.length - mostListed;
  const shown = names.slice(0, mostListed).map(quote).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** What a person sees of a name: without hidden characters, and with one letter for those that look the same. */
function lookOf(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name;
  const plain = withoutHidden(name.normalize('NFKC'));
  return [...plain].map((character) => latinLooks.get(character) ?? character).join('');
}

/** Cyrillic and Greek letters that most fonts draw like these Latin ones. */
const latinLooks: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аα',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еε',
    h: 'һ',
    i: 'іι',
    j: 'ј',
    k: 'кκ',
    l: 'ӏ',
    m: 'м',
    n: 'ո',
    o: 'оο',
    p: 'рρ',
    q: 'ԛ',
    s: 'ѕ',
    t: 'тτ',
    u: 'υ',
    v: 'ν',
    w: 'ԝ',
    x: 'хχ',
    y: 'у',
    A: 'АΑ',
    B: 'ВΒ',
    C: 'С',
    E: 'ЕΕ',
    H: 'НΗ',
    I: 'ІΙ',
    K: 'КΚ',
    M: 'МΜ',
    N: 'Ν',
    O: 'ОΟ',
    P: 'РΡ',
    S: 'Ѕ',
    T: 'ТΤ',
    X: 'ХΧ',
    Y: 'Υ',
    Z: 'Ζ',
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);
