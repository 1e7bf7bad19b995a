import type { ToolFilter } from '../domain/index.ts';
import { dotted, type Finding, quote } from './problems.ts';
import { looksRestrictive, type RestrictionRole, restrictionRole } from './restriction-words.ts';
import type { ServerBody, ServerPlace } from './server-draft.ts';
import { type SourceEntry, type SourceNode, sourceMap } from './source-tree.ts';

/** What a server's map restricts under words that its format does not have itself. */
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
  /** Also where `tools` is no list of names. */
  readonly ownTools?: boolean;
}

/** Reads the words that clients have for restrictions. */
export function takeRestrictions(node: SourceNode, { known, ownTools }: TakeOptions, place: ServerPlace): Taken {
  const taking = new Taking(place);
  if (node.kind !== 'map') return { rest: node, restrictions: taking.restrictions(), findings: [] };
  const rest = node.entries.filter((entry) => {
    const role = restrictionRole(entry.key);
    // A list of names is what formats know; another shape under the same word is read here.
    const isList = entry.key !== 'tools' || ownTools === true || entry.value.kind !== 'map';
    const isOwn = known.has(entry.key) && isList;
    if (role === undefined || isOwn) return true;
    taking.take(role, entry);
    return false;
  });
  return { rest: sourceMap(node.line, rest), restrictions: taking.restrictions(), findings: taking.findings };
}

/** Whether anything in the map keeps something from agents, known or not. */
export function mentionsRestriction(node: SourceNode): boolean {
  if (node.kind !== 'map') return false;
  return node.entries.some(({ key, value }) => {
    const role = restrictionRole(key);
    const isTrue = value.kind === 'scalar' && value.value === true;
    const isFalse = value.kind === 'scalar' && value.value === false;
    if (role === 'on') return !isTrue;
    if (role === 'off' || role === 'read-only') return !isFalse;
    return role !== undefined || looksRestrictive(key);
  });
}

/** The narrower of both counts. */
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
  readonly #exclude: string[] = [];
  #include: readonly string[] | undefined;
  #enabled = true;
  #readOnly = false;
  #rate: number | undefined;

  constructor(place: ServerPlace) {
    this.#place = place;
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
      else if (this.#include === undefined) this.#include = namesIn(value);
      else this.#wrong(key, line, 'is a second list of tools to offer', 'Keep one of the two lists.');
    } else if (value.kind === 'map' && value.entries.length > 0) {
      for (const entry of value.entries) this.#takeOfMap(role, key, entry);
    } else if (value.kind === 'list' && !value.items.some(mentionsRestriction)) {
      // Some describe their tools there; that keeps nobody from any of them.
      this.#note('warning', key, line, 'is not a list of names and is not read', 'Remove it.');
    } else if (value.kind !== 'map') {
      this.#wrong(key, line, 'must be a list of names', 'Write ["name", …].');
    }
  }

  /** `{ "include": […], "exclude": […] }`, or tools by name with true or false, or with a map that says so. */
  #takeOfMap(role: 'include' | 'exclude', key: string, { key: inner, line, value }: SourceEntry): void {
    const innerRole = listWords.get(inner.toLowerCase());
    if (innerRole !== undefined && isNameList(value)) {
      this.#takeTools(innerRole, { key: `${key}.${inner}`, line, value });
      return;
    }
    const flag = value.kind === 'map' ? flagIn(value) : value.kind === 'scalar' ? value.value : undefined;
    if (typeof flag !== 'boolean') {
      const message = 'is not understood, and may keep something from agents';
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

/** Undefined where anything else is said of the tool. */
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

function isNameList(node: SourceNode): boolean {
  return node.kind === 'list' && node.items.every(({ kind }) => kind === 'scalar');
}

function namesIn(node: SourceNode): string[] {
  return (node.kind === 'list' ? node.items : []).flatMap((item) => (item.kind === 'scalar' ? [item.text] : []));
}
