import type { Needle } from './known-values.ts';
import { addSpan } from './text-spans.ts';

/** All values in one automaton (Aho and Corasick): each character of a text is examined once. */
export interface KnownAutomaton {
  /** The start and end of each span to hide, in order and without overlaps. */
  spansIn(text: string): number[];
}

/** Longer values are indexed by this prefix and then compared, so that a 50 kB key does not need 50,000 states. */
export const indexedCharacters = 256;

interface States {
  readonly next: Map<number, number>;
  /** The state to continue in when no edge fits: the longest other prefix with the same ending. */
  readonly fallback: number[];
  readonly depth: number[];
  /** The length of the longest value that ends in this state, or 0. */
  readonly matched: number[];
  /** Whether the characters at the edges of that value also belong to its neighbours. */
  readonly edges: boolean[];
  /** Values longer than the indexed prefix, by the state of the prefix. */
  readonly longer: Map<number, string[]>;
}

export interface AutomatonOptions {
  /** A text may be cut inside a value: this many characters of a value before `…` are hidden too. */
  readonly least: number;
  /** The unit that a character code is compared as. */
  readonly unitOf: (code: number) => number;
}

export function createAutomaton(needles: readonly Needle[], { least, unitOf }: AutomatonOptions): KnownAutomaton {
  const states = buildStates(needles, unitOf);
  return {
    spansIn(text) {
      const spans: number[] = [];
      let state = 0;
      /** How far a long value has been compared. No character is compared twice. */
      let compared = 0;
      for (let end = 1; end <= text.length; end++) {
        state = step(states, state, unitOf(text.charCodeAt(end - 1)));
        const matched = states.matched[state] ?? 0;
        if (matched > 0) {
          const longer = end > compared ? states.longer.get(state) : undefined;
          compared = longer === undefined ? compared : endOfLongest(longer, text, { from: end, unitOf });
          addSpan(
            spans,
            widened(
              text,
              end - matched,
              Math.max(end, longer === undefined ? 0 : compared),
              states.edges[state] === true,
            ),
          );
        } else if ((states.depth[state] ?? 0) >= least && text[end] === '…') {
          addSpan(spans, [end - (states.depth[state] ?? 0), end]);
        }
      }
      return spans;
    },
  };
}

function buildStates(needles: readonly Needle[], unitOf: AutomatonOptions['unitOf']): States {
  const next = new Map<number, number>();
  const [parent, unit, depth, matched]: [number[], number[], number[], number[]] = [[0], [0], [0], [0]];
  const edges = [false];
  const longer = new Map<number, string[]>();
  for (const needle of needles) {
    const { text } = needle;
    let state = 0;
    for (let at = 0; at < Math.min(text.length, indexedCharacters); at++) {
      const character = unitOf(text.charCodeAt(at));
      const edge = edgeOf(state, character);
      let target = next.get(edge);
      if (target === undefined) {
        target = depth.length;
        next.set(edge, target);
        parent.push(state);
        unit.push(character);
        depth.push(at + 1);
        matched.push(0);
        edges.push(false);
      }
      state = target;
    }
    matched[state] = depth[state] ?? 0;
    if (needle.edges) edges[state] = true;
    if (text.length > indexedCharacters) longer.set(state, [...(longer.get(state) ?? []), text]);
  }
  const states: States = { next, fallback: depth.map(() => 0), depth, matched, edges, longer };
  for (const state of byDepth(depth))
    linkFallback(states, state, { parent: parent[state] ?? 0, unit: unit[state] ?? 0 });
  return states;
}

/** Shallow states first, because the fallback of a state is always shallower. */
function byDepth(depth: readonly number[]): number[] {
  const order = depth.map((_, state) => state).slice(1);
  return order.sort((a, b) => (depth[a] ?? 0) - (depth[b] ?? 0));
}

function linkFallback(states: States, state: number, from: { readonly parent: number; readonly unit: number }): void {
  if (from.parent === 0) return;
  const fallback = step(states, states.fallback[from.parent] ?? 0, from.unit);
  states.fallback[state] = fallback;
  if ((states.matched[state] ?? 0) > 0) return;
  states.matched[state] = states.matched[fallback] ?? 0;
  states.edges[state] = states.edges[fallback] === true;
}

function step({ next, fallback }: States, from: number, unit: number): number {
  let state = from;
  for (;;) {
    const target = next.get(edgeOf(state, unit));
    if (target !== undefined) return target;
    if (state === 0) return 0;
    state = fallback[state] ?? 0;
  }
}

function edgeOf(state: number, unit: number): number {
  return state * 0x10000 + unit;
}

/** The farthest position up to which one of the values continues in the text. */
function endOfLongest(
  longer: readonly string[],
  text: string,
  { from, unitOf }: { readonly from: number } & Pick<AutomatonOptions, 'unitOf'>,
): number {
  let end = from;
  for (const value of longer) {
    let at = from;
    for (let own = indexedCharacters; own < value.length && at < text.length; own++) {
      if (unitOf(text.charCodeAt(at)) !== unitOf(value.charCodeAt(own))) break;
      at++;
    }
    end = Math.max(end, at);
  }
  return end;
}

function widened(text: string, start: number, end: number, edges: boolean): [start: number, end: number] {
  if (!edges) return [start, end];
  return [isBase64(text.charCodeAt(start - 1)) ? start - 1 : start, isBase64(text.charCodeAt(end)) ? end + 1 : end];
}

function isBase64(code: number): boolean {
  const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return isLetter || (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 47 || code === 95;
}
