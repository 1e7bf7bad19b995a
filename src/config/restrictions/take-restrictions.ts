import type { ToolFilter } from '../../domain/index.ts';
import { type SourceEntry, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { ServerBody, ServerPlace } from '../servers/server-draft.ts';
import {
  looksRestrictive,
  looksRestrictiveOnServer,
  type RestrictionRole,
  restrictionRole,
} from './restriction-words.ts';

/** Restrictions of a server under keys that its format does not define. */
export interface TakenRestrictions {
  readonly tools: ToolFilter;
  readonly enabled: boolean;
  readonly readOnly: boolean;
  readonly ratePerMin: number | undefined;
}

export interface Taken {
  /** The map without those keys. */
  readonly rest: SourceNode;
  readonly restrictions: TakenRestrictions;
  readonly findings: readonly Finding[];
}

export interface TakeOptions {
  /** Keys that the format reads itself. */
  readonly known: ReadonlySet<string>;
  /** The format also reads `tools` itself if it is not a list of names. */
  readonly ownTools?: boolean;
}

/** Reads clients' common keys for restrictions. */
export function takeRestrictions(node: SourceNode, { known, ownTools }: TakeOptions, place: ServerPlace): Taken {
  const taking = new Taking(place, node.kind === 'map' && node.entries.some((entry) => isOwnList(entry, known)));
  if (node.kind !== 'map') return { rest: node, restrictions: taking.restrictions(), findings: [] };
  const rest = node.entries.filter((entry) => {
    const role = restrictionRole(entry.key);
    // Formats know a list of names. Any other shape under the same key is read here.
    const isList = entry.key !== 'tools' || ownTools === true || entry.value.kind !== 'map';
    const isOwn = known.has(entry.key) && isList;
    if (role === undefined || isOwn) return true;
    taking.take(role, entry);
    return false;
  });
  return { rest: sourceMap(node.line, rest), restrictions: taking.restrictions(), findings: taking.findings };
}

/** A list of tools to expose that the format reads itself. */
function isOwnList({ key, value }: SourceEntry, known: ReadonlySet<string>): boolean {
  return known.has(key) && restrictionRole(key) === 'include' && isNameList(value);
}

/** Whether any key in the map restricts agents, known or not. */
export function mentionsRestriction(node: SourceNode): boolean {
  if (node.kind !== 'map') return false;
  return node.entries.some(({ key, value }) => {
    const role = restrictionRole(key);
    const isTrue = value.kind === 'scalar' && value.value === true;
    const isFalse = value.kind === 'scalar' && value.value === false;
    if (role === 'on') return !isTrue;
    if (role === 'off' || role === 'read-only') return !isFalse;
    return role !== undefined || looksRestrictiveOnServer(key);
  });
}

/** Applies the taken restrictions to the body. At most one of the two has a list of tools to expose. */
export function narrowed<B extends Omit<ServerBody, 'transport'>>(
  body: B,
  { tools, enabled, readOnly, ratePerMin }: TakenRestrictions,
): B {
  const exclude = [...(body.tools.exclude ?? []), ...(tools.exclude ?? [])];
  const include = body.tools.include ?? tools.include;
  const rates = [body.limits.ratePerMin, ratePerMin].filter((rate) => rate !== undefined);
  return {
    ...body,
    enabled: body.enabled && enabled,
    tools: { ...(include === undefined ? {} : { include }), ...(exclude.length === 0 ? {} : { exclude }) },
    access: readOnly ? { ...body.access, readOnly } : body.access,
    limits: { ...body.limits, ratePerMin: rates.length === 0 ? undefined : Math.min(...rates) },
  };
}

class Taking {
  readonly findings: Finding[] = [];
  readonly #place: ServerPlace;
  /** The format itself reads a list of tools to expose. */
  readonly #hasOwnList: boolean;
  readonly #exclude: string[] = [];
  #include: readonly string[] | undefined;
  #enabled = true;
  #readOnly = false;
  #rate: number | undefined;

  constructor(place: ServerPlace, hasOwnList: boolean) {
    this.#place = place;
    this.#hasOwnList = hasOwnList;
  }

  restrictions(): TakenRestrictions {
    const exclude = this.#exclude;
    const tools = {
      ...(this.#include === undefined ? {} : { include: this.#include }),
      ...(exclude.length === 0 ? {} : { exclude }),
    };
    return { tools, enabled: this.#enabled, readOnly: this.#readOnly, ratePerMin: this.#rate };
  }

  take(role: RestrictionRole, entry: SourceEntry): void {
    const { key, value } = entry;
    switch (role) {
      case 'include':
      case 'exclude':
        this.#takeTools(role, entry);
        break;
      case 'rate':
        if (value.kind === 'scalar' && typeof value.value === 'number' && value.value > 0) {
          this.#rate = Math.min(value.value, this.#rate ?? value.value);
        } else this.#wrong(key, entry.line, 'must be a number of calls in a minute', 'Write a number above 0.');
        break;
      default:
        this.#takeFlag(role, entry);
    }
  }

  #takeFlag(role: 'on' | 'off' | 'read-only', { key, line, value }: SourceEntry): void {
    if (value.kind !== 'scalar' || typeof value.value !== 'boolean') {
      this.#wrong(key, line, 'must be true or false', 'Write true or false, without quotes.');
    } else if (role === 'read-only') this.#readOnly ||= value.value;
    else if (value.value === (role === 'off')) this.#enabled = false;
  }

  #takeTools(role: 'include' | 'exclude', { key, line, value }: SourceEntry): void {
    if (isNameList(value)) {
      if (role === 'exclude') this.#exclude.push(...namesIn(value));
      else if (this.#include === undefined && !this.#hasOwnList) this.#include = namesIn(value);
      else this.#wrong(key, line, 'is a second list of tools to expose', 'Keep one of the two lists.');
    } else if (value.kind === 'map' && role === 'include' && !isPlain(key)) {
      this.#takeAllowedMap(key, line, value);
    } else if (value.kind === 'map') {
      for (const entry of value.entries) this.#takeOfMap(role, key, entry);
    } else if (isPlain(key) && value.kind === 'list' && !value.items.some(mentionsRestriction)) {
      // Some clients describe their tools here, which restricts nothing.
      this.#note('warning', key, line, 'is not a list of names and is ignored', 'Remove it.');
    } else {
      this.#wrong(key, line, 'must be a list of names', 'Write ["name", …].');
    }
  }

  /** `allowedTools: { "read": true }` allows only these: whatever is not in the map is not allowed. */
  #takeAllowedMap(key: string, line: number, value: SourceNode & { kind: 'map' }): void {
    const allowed: string[] = [];
    for (const { key: name, line: at, value: flag } of value.entries) {
      const isOn = flag.kind === 'map' ? flagIn(flag) : flag.kind === 'scalar' ? flag.value : undefined;
      if (isOn === true && !listWords.has(name.toLowerCase())) allowed.push(name);
      else if (isOn !== false) {
        this.#wrong(`${key}.${name}`, at, 'is not recognized and may be a restriction', 'Write a list of names.');
      }
    }
    if (this.#include === undefined && !this.#hasOwnList) this.#include = allowed;
    else this.#wrong(key, line, 'is a second list of tools to expose', 'Keep one of the two lists.');
  }

  /**
   * `{ "include": […], "exclude": […] }`, or tools by name with true or false, or with a map that contains such a flag.
   */
  #takeOfMap(role: 'include' | 'exclude', key: string, { key: inner, line, value }: SourceEntry): void {
    const innerRole = listWords.get(inner.toLowerCase());
    // A tool may have such a name too: `{ "allowed": true }`.
    if (innerRole !== undefined && value.kind !== 'scalar') {
      this.#takeTools(innerRole, { key: `${key}.${inner}`, line, value });
      return;
    }
    const flag = value.kind === 'map' ? flagIn(value) : value.kind === 'scalar' ? value.value : undefined;
    if (typeof flag !== 'boolean') {
      const message = 'is not recognized and may be a restriction';
      this.#wrong(`${key}.${inner}`, line, message, `Write ${quote(inner)} as a rule: policies in quartermaster.yaml.`);
    } else if (flag === (role === 'exclude')) this.#exclude.push(inner);
  }

  #wrong(key: string, line: number, message: string, fix: string): void {
    this.#note('error', key, line, message, fix);
  }

  #note(severity: Finding['severity'], key: string, line: number, message: string, fix: string): void {
    const { name, field } = this.#place;
    this.findings.push({
      severity,
      line,
      field: dotted(field, key),
      server: name,
      message: `Server ${quote(name)}: ${quote(key)} ${message}.`,
      fix,
    });
  }
}

const listWords: ReadonlyMap<string, 'include' | 'exclude'> = new Map([
  ...['include', 'included', 'allow', 'allowed', 'enabled'].map((word) => [word, 'include'] as const),
  ...['exclude', 'excluded', 'deny', 'denied', 'disabled', 'blocked'].map((word) => [word, 'exclude'] as const),
]);

/** Undefined if the map contains any other restriction. */
function flagIn(node: SourceNode): boolean | undefined {
  if (node.kind !== 'map') return undefined;
  let isOn = true;
  for (const { key, value } of node.entries) {
    const role = restrictionRole(key);
    if (role === undefined && !looksRestrictive(key)) continue;
    if ((role !== 'on' && role !== 'off') || value.kind !== 'scalar' || typeof value.value !== 'boolean')
      return undefined;
    if (value.value === (role === 'off')) isOn = false;
  }
  return isOn;
}

/** Clients use plain `tools` for descriptions and switches too; any other key of this kind only restricts. */
function isPlain(key: string): boolean {
  return key.toLowerCase() === 'tools';
}

function isNameList(node: SourceNode): boolean {
  return node.kind === 'list' && node.items.every(({ kind }) => kind === 'scalar');
}

function namesIn(node: SourceNode): string[] {
  return (node.kind === 'list' ? node.items : []).flatMap((item) => (item.kind === 'scalar' ? [item.text] : []));
}
