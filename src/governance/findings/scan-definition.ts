import { isJsonObject } from '../../base/index.ts';
import type { TextFinding } from './definition-finding.ts';
import { textsOf } from './definition-texts.ts';
import { findHiddenCharacters } from './hidden-characters.ts';
import { findInstructions } from './instruction-patterns.ts';

/** What one definition shows by itself, whatever other servers have. */
export interface ScannedDefinition {
  readonly findings: readonly TextFinding[];
  /** Words of its prose that could be names of tools, with the path of the first text that has it. */
  readonly words: ReadonlyMap<string, string>;
}

/** By definition, so that an unchanged one is read once. */
export type ScannedDefinitions = WeakMap<object, ScannedDefinition>;

export function scanDefinition(definition: { readonly text: string }, scanned: ScannedDefinitions): ScannedDefinition {
  const known = scanned.get(definition);
  if (known !== undefined) return known;
  const parsed: unknown = JSON.parse(definition.text);
  const texts = textsOf(parsed);
  const own = argumentNamesOf(parsed);
  const found = texts.flatMap((text) => [...findHiddenCharacters(text), ...findInstructions(text)]);
  const words = new Map<string, string>();
  for (const { at, text, use } of texts) {
    for (const word of use === 'prose' ? namesIn(text) : []) {
      if (words.size < mostWords && !words.has(word) && !own.has(word)) words.set(word, at);
    }
  }
  const scan: ScannedDefinition = { findings: mostGrave(found, mostFindings), words };
  scanned.set(definition, scan);
  return scan;
}

/** A description may speak of its arguments. */
function argumentNamesOf(definition: unknown): ReadonlySet<string> {
  const schema = isJsonObject(definition) ? definition.inputSchema : undefined;
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  return new Set(isJsonObject(properties) ? Object.keys(properties) : []);
}

/** Warnings first, so that a server cannot hide one behind many notes. */
export function mostGrave<F extends { readonly severity: 'warning' | 'note' }>(
  findings: readonly F[],
  limit: number,
): readonly F[] {
  if (findings.length <= limit) return findings;
  const [warnings, notes] = [true, false].map((grave) => findings.filter((f) => (f.severity === 'warning') === grave));
  return [...(warnings ?? []), ...(notes ?? [])].slice(0, limit);
}

const mostFindings = 10;
const mostWords = 1000;

/** Words that look like names in code. Plain words such as `search` are names of tools too, and mean nothing in prose. */
function* namesIn(text: string): Generator<string> {
  for (const [word] of text.matchAll(/[\w.-]+/g)) {
    const name = word.replace(/^[._-]{1,3}|[._-]{1,3}$/g, '');
    if (name.length <= longestName && isDistinctName(name)) yield name;
  }
}

const longestName = 256;

/** Whether a name of a tool is not a word of a language: `read_file`, `list-issues`, `getUser`. */
export function isDistinctName(name: string): boolean {
  return name.length >= 6 && /[A-Za-z0-9](?:[._-]{1,3}|(?<=[a-z])(?=[A-Z]))[A-Za-z0-9]/.test(name);
}
