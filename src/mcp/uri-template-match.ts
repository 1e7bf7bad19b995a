import type { Expression, Operator, TemplatePart, Variable } from './uri-template-syntax.ts';

/**
 * Templates and URIs come from strangers, so nothing here goes back and tries again, as a regular
 * expression would. The template becomes a chain of states. From its end to its start, it is noted
 * for each state and each place of the URI how many variables the rest would find; one walk from
 * the start then follows the highest number. The time is that of states times characters, at worst.
 */
export function createUriMatcher(
  parts: readonly TemplatePart[],
): (uri: string) => ReadonlyMap<string, string> | undefined {
  const states = toStates(parts);
  return (uri) => {
    if (uri.length > maxUriLength) return undefined;
    const found = walk(states, scoreRows(states, uri), uri);
    return found === undefined ? undefined : readValues(found);
  };
}

const maxUriLength = 16 * 1024;

/** First the text, then the value if there is one, then the state it leads to. */
interface Edge {
  readonly text: string;
  readonly value?: { readonly stops: string; readonly mayBeEmpty: boolean };
  /** Gets the value, or an empty one. */
  readonly variable?: Variable;
  readonly to: number;
}

/** The edges in order of preference. Edges lead to states before their own; the first state is the end. */
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

/** Any of the variables may be missing, but those that are there stand in the order of the template. */
function addExpression({ operator, variables }: Expression, after: number, add: (edges: Edge[]) => number): number {
  // Where it goes on, depending on whether one of the variables was there already.
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
  /** Where it goes on if the variable is missing; undefined if it must not be. */
  readonly without: number | undefined;
}

function edgesOf(operator: Operator, variable: Variable, { lead, last, to, without }: Place): Edge[] {
  // The last variable may hold the separator, where the operator lets it: nothing follows that it could hide.
  const own = last ? operator.stops : operator.stops + operator.separator;
  const loose = operator.stops.replaceAll(operator.separator, '');
  const skip: Edge[] = without === undefined ? [] : [{ text: '', to: without }];
  if (!operator.named) {
    const stops = variable.exploded ? loose : own;
    return [{ text: lead, value: { stops, mayBeEmpty: false }, variable, to }, ...skip];
  }
  const label = lead + variable.name;
  const edges: Edge[] = [{ text: `${label}=`, value: { stops: own, mayBeEmpty: true }, variable, to }];
  if (operator.ifEmpty === '') edges.push({ text: label, variable, to });
  edges.push(...skip);
  // Several values, or pairs whose names the template does not know.
  if (variable.exploded) edges.push({ text: lead, value: { stops: loose, mayBeEmpty: false }, variable, to });
  return edges;
}

/**
 * For each state a row: 0 where the rest of the URI cannot come from the rest of the template, else
 * one more than the variables that are found on the best way.
 */
function scoreRows(states: States, uri: string): Uint8Array[] {
  const rows: Uint8Array[] = [];
  for (const edges of states) {
    const row = new Uint8Array(uri.length + 1);
    if (rows.length === 0) row[uri.length] = 1;
    for (const edge of edges) {
      const after = rows[edge.to];
      if (after !== undefined) scoreEdge(row, edge, after, uri);
    }
    rows.push(row);
  }
  return rows;
}

function scoreEdge(row: Uint8Array, edge: Edge, after: Uint8Array, uri: string): void {
  const { text, value } = edge;
  const matched = lengthsMatched(text, uri);
  // The best score of a value, empty or not, that begins one character further on.
  let further = 0;
  for (let at = uri.length; at >= text.length; at--) {
    const goesOn = value === undefined || value.stops.includes(uri.charAt(at)) ? 0 : further;
    further = Math.max(goesOn, after[at] ?? 0);
    const best = value === undefined || value.mayBeEmpty ? further : goesOn;
    if (best === 0 || matched[at] !== text.length) continue;
    const start = at - text.length;
    row[start] = Math.max(row[start] ?? 0, best + gainOf(edge));
  }
}

function gainOf(edge: Edge): number {
  return edge.variable === undefined ? 0 : 1;
}

/**
 * For each place of the URI, how much of the text's start ends there (Knuth, Morris, Pratt):
 * comparing anew at each place would be slow for texts that begin everywhere and end nowhere.
 */
function lengthsMatched(text: string, uri: string): Uint16Array {
  if (text === '') return new Uint16Array(uri.length + 1);
  // No text of a template holds a brace, so no match is longer than the text.
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
  /** Of the value. */
  readonly start: number;
  readonly end: number;
}

/** The first edge that leads to the score, with the longest value that does. */
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
  while (longest < uri.length && !value.stops.includes(uri.charAt(longest))) longest++;
  return [value.mayBeEmpty ? start : start + 1, longest];
}

/** A variable that stands there twice has one value; what `:n` left of it is no second one. */
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
    // A stray percent sign, or bytes that are no UTF-8: the server may know what is meant.
    return raw;
  }
}
