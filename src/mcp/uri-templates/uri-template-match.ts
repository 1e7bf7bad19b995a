import type { Expression, Operator, TemplatePart, Variable } from './uri-template-syntax.ts';

export interface UriMatcher {
  match(uri: string): ReadonlyMap<string, string> | undefined;
  /** Steps that `match` takes for a URI of this length: edges times characters. */
  costOf(uriLength: number): number;
}

/**
 * Templates and URIs are untrusted, so the matcher never backtracks, as a regular expression would. The template
 * becomes a chain of states. Working backwards, it computes for each state and each position in the URI how many
 * variables the rest would bind. One walk from the start then follows the highest score. The worst case is edges times
 * characters.
 */
export function createUriMatcher(parts: readonly TemplatePart[]): UriMatcher {
  const states = toStates(parts);
  const edges = states.flat();
  // An edge with a text passes over the URI twice.
  const passes = edges.reduce((sum, { text }) => sum + (text === '' ? 1 : 2), 1);
  const textLength = edges.reduce((sum, { text }) => sum + text.length, 0);
  return {
    match(uri) {
      if (uri.length > maxUriLength) return undefined;
      const found = walk(states, scoreRows(states, uri), uri);
      return found === undefined ? undefined : readValues(found);
    },
    costOf: (uriLength) => passes * (uriLength + 1) + textLength,
  };
}

const maxUriLength = 16 * 1024;

/** Matches the text, then the value if there is one, and leads to the state `to`. */
interface Edge {
  readonly text: string;
  readonly value?: Value;
  /** The variable that receives the value, or an empty one. */
  readonly variable?: Variable;
  readonly to: number;
}

interface Value {
  /** The ASCII characters that end it, as a table. */
  readonly stops: Uint8Array;
  readonly mayBeEmpty: boolean;
}

function valueUntil(stops: string, mayBeEmpty: boolean): Value {
  const table = new Uint8Array(128);
  for (const character of stops) table[character.charCodeAt(0)] = 1;
  return { stops: table, mayBeEmpty };
}

/** Also at the end of the URI, where there is no character. */
function stopsAt({ stops }: Value, uri: string, at: number): boolean {
  if (at >= uri.length) return true;
  const code = uri.charCodeAt(at);
  return code < 128 && stops[code] === 1;
}

/** Edges are in order of preference and lead to states before their own. The first state is the end. */
type States = readonly (readonly Edge[])[];

function toStates(parts: readonly TemplatePart[]): States {
  const states: Edge[][] = [[]];
  const add = (edges: Edge[]): number => states.push(edges) - 1;
  let next = 0;
  for (const part of parts.toReversed()) {
    next = typeof part === 'string' ? add([{ text: part, to: next }]) : addExpression(part, next, add);
  }
  return states;
}

/** Any variable may be missing, but those present are in the order of the template. */
function addExpression({ operator, variables }: Expression, after: number, add: (edges: Edge[]) => number): number {
  // The next states if some variable was present already, and if none was.
  let afterSome = after;
  let afterNone = operator.first === '' ? undefined : after;
  for (const [index, variable] of [...variables.entries()].reverse()) {
    const last = index === variables.length - 1;
    const some = edgesOf(operator, variable, { lead: operator.separator, last, to: afterSome, without: afterSome });
    const none = edgesOf(operator, variable, { lead: operator.first, last, to: afterSome, without: afterNone });
    if (index > 0) afterSome = add(some);
    afterNone = add(none);
  }
  return afterNone ?? after;
}

interface Place {
  readonly lead: string;
  readonly last: boolean;
  readonly to: number;
  /** The next state if the variable is missing. Undefined if it must be present. */
  readonly without: number | undefined;
}

function edgesOf(operator: Operator, variable: Variable, { lead, last, to, without }: Place): Edge[] {
  // The last variable may contain the separator if the operator allows it: nothing follows that it could hide.
  const own = last ? operator.stops : operator.stops + operator.separator;
  const loose = operator.stops.replaceAll(operator.separator, '');
  const skip: Edge[] = without === undefined ? [] : [{ text: '', to: without }];
  if (!operator.named) {
    const stops = variable.exploded ? loose : own;
    return [{ text: lead, value: valueUntil(stops, false), variable, to }, ...skip];
  }
  const label = lead + variable.name;
  const edges: Edge[] = [{ text: `${label}=`, value: valueUntil(own, true), variable, to }];
  if (operator.ifEmpty === '') edges.push({ text: label, variable, to });
  edges.push(...skip);
  // Several values, or pairs whose names are not in the template.
  if (variable.exploded) edges.push({ text: lead, value: valueUntil(loose, false), variable, to });
  return edges;
}

/**
 * One row per state: 0 where the rest of the URI cannot match the rest of the template, otherwise one more than the
 * number of variables bound on the best path.
 */
function scoreRows(states: States, uri: string): Uint8Array[] {
  const rows: Uint8Array[] = [];
  for (const edges of states) {
    const row = new Uint8Array(uri.length + 1);
    if (rows.length === 0) row[uri.length] = 1;
    for (const edge of edges) {
      const after = rows[edge.to];
      if (after === undefined) continue;
      if (edge.text === '' && edge.value === undefined) scoreSkip(row, edge, after);
      else scoreEdge(row, edge, after, uri);
    }
    rows.push(row);
  }
  return rows;
}

function scoreSkip(row: Uint8Array, edge: Edge, after: Uint8Array): void {
  const gain = gainOf(edge);
  for (let at = 0; at < row.length; at++) {
    const best = after[at] ?? 0;
    if (best > 0) row[at] = Math.max(row[at] ?? 0, best + gain);
  }
}

function scoreEdge(row: Uint8Array, edge: Edge, after: Uint8Array, uri: string): void {
  const { text, value } = edge;
  const gain = gainOf(edge);
  const matched = text.length <= shortText ? undefined : lengthsMatched(text, uri);
  // The best score of a value, empty or not, that begins one character later.
  let further = 0;
  for (let at = uri.length; at >= text.length; at--) {
    const goesOn = value === undefined || stopsAt(value, uri, at) ? 0 : further;
    further = Math.max(goesOn, after[at] ?? 0);
    const best = value === undefined || value.mayBeEmpty ? further : goesOn;
    if (best === 0) continue;
    const start = at - text.length;
    if (matched === undefined ? !uri.startsWith(text, start) : matched[at] !== text.length) continue;
    row[start] = Math.max(row[start] ?? 0, best + gain);
  }
}

/** Up to this length, comparing at each position costs no more than a step. */
const shortText = 8;

function gainOf(edge: Edge): number {
  return edge.variable === undefined ? 0 : 1;
}

/**
 * For each position in the URI, the length of the longest prefix of the text that ends there (Knuth, Morris, Pratt).
 * Comparing at each position would be slow for texts that begin everywhere and end nowhere.
 */
function lengthsMatched(text: string, uri: string): Uint16Array {
  // The text of a template contains no brace, so no match is longer than the text.
  const both = `${text}{${uri}`;
  const lengths = new Uint16Array(both.length);
  for (let at = 1; at < both.length; at++) {
    const code = both.charCodeAt(at);
    let length = lengths[at - 1] ?? 0;
    while (length > 0 && both.charCodeAt(length) !== code) length = lengths[length - 1] ?? 0;
    lengths[at] = both.charCodeAt(length) === code ? length + 1 : 0;
  }
  return lengths.subarray(text.length);
}

interface Found {
  readonly variable: Variable;
  readonly raw: string;
}

function walk(states: States, rows: readonly Uint8Array[], uri: string): Found[] | undefined {
  const found: Found[] = [];
  let at = 0;
  let state = states.length - 1;
  let score = rows[state]?.[at] ?? 0;
  if (score === 0) return undefined;
  while (state > 0) {
    const step = bestStep(states[state] ?? [], rows, { uri, at, score });
    if (step === undefined) return undefined;
    const { edge, start, end } = step;
    if (edge.variable !== undefined) found.push({ variable: edge.variable, raw: uri.slice(start, end) });
    score -= gainOf(edge);
    at = end;
    state = edge.to;
  }
  return found;
}

interface Position {
  readonly uri: string;
  readonly at: number;
  readonly score: number;
}

interface Step {
  readonly edge: Edge;
  /** The start of the value. */
  readonly start: number;
  readonly end: number;
}

/** The first edge that achieves the score, with the longest possible value. */
function bestStep(edges: readonly Edge[], rows: readonly Uint8Array[], { uri, at, score }: Position): Step | undefined {
  for (const edge of edges) {
    const rest = score - gainOf(edge);
    if (rest === 0 || !uri.startsWith(edge.text, at)) continue;
    const start = at + edge.text.length;
    const [shortest, longest] = endsOf(edge, uri, start);
    const end = rows[edge.to]?.lastIndexOf(rest, longest) ?? -1;
    if (end >= shortest) return { edge, start, end };
  }
  return undefined;
}

function endsOf({ value }: Edge, uri: string, start: number): [shortest: number, longest: number] {
  if (value === undefined) return [start, start];
  let longest = start;
  while (!stopsAt(value, uri, longest)) longest++;
  return [value.mayBeEmpty ? start : start + 1, longest];
}

/** A variable that occurs twice must have one value. A prefix from `:n` does not count as a second value. */
function readValues(found: readonly Found[]): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  const whole = new Set<string>();
  for (const { variable, raw } of found) {
    const { name, prefix } = variable;
    const value = decode(raw);
    if (prefix !== undefined) {
      if (!values.has(name)) values.set(name, value);
      continue;
    }
    if (whole.has(name) && values.get(name) !== value) return undefined;
    whole.add(name);
    values.set(name, value);
  }
  return values;
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    // A stray percent sign, or bytes that are not UTF-8. Leave the interpretation to the server.
    return raw;
  }
}
