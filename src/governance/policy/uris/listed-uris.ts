import { createWorkBudget, type WorkBudget } from '../../../base/index.ts';
import { maxUriLength, type UriProblem } from '../../../domain/index.ts';
import { uriProblem } from './percent-decoding.ts';
import { type ListedUri, maxDecisionWork } from './read-subject.ts';
import { type UriForms, uriForms } from './uri-forms.ts';

/** The URIs in the lists of one server. What is computed for a URI is the same for all agents, so they share it. */
export interface ListedUris {
  /** Undefined for a URI that is in no list. */
  of(uri: string): ListedUri | undefined;
}

/**
 * Steps of comparing for all URIs of a server: about a tenth of a second. Ten thousand ordinary URIs stay within it.
 * The forms of one server also hold no more characters than this allows.
 */
export const maxListWork = 10 * maxDecisionWork;

/** Computes problems at first use, and forms when a rule or list first needs one: in the order of the lists. */
export function createListedUris(uris: () => Iterable<string>): ListedUris {
  let entries: ReadonlyMap<string, ListedEntry> | undefined;
  let hasForms = false;

  function computeForms(): void {
    if (hasForms || entries === undefined) return;
    hasForms = true;
    const budget = createWorkBudget(maxListWork);
    for (const entry of entries.values()) {
      if (entry.problem === undefined) entry.found = formsWithin(budget, entry.uri);
      if (budget.isSpent) return;
    }
  }

  return {
    of(uri) {
      entries ??= entriesOf(uris(), computeForms);
      return entries.get(uri);
    },
  };
}

class ListedEntry implements ListedUri {
  readonly uri: string;
  readonly problem: UriProblem | undefined;
  found: UriForms | undefined;
  readonly #computeForms: () => void;

  constructor(uri: string, problem: UriProblem | undefined, computeForms: () => void) {
    this.uri = uri;
    this.problem = problem;
    this.#computeForms = computeForms;
  }

  get forms(): UriForms | undefined {
    this.#computeForms();
    return this.found;
  }
}

function entriesOf(uris: Iterable<string>, computeForms: () => void): ReadonlyMap<string, ListedEntry> {
  const budget = createWorkBudget(maxListWork);
  const entries = new Map<string, ListedEntry>();
  for (const uri of uris) {
    // Longer ones are denied by their length alone.
    if (uri.length > maxUriLength || entries.has(uri)) continue;
    const problem = budget.spend(decodingSteps(uri)) ? uriProblem(uri) : 'too-much-work';
    entries.set(uri, new ListedEntry(uri, problem, computeForms));
  }
  return entries;
}

function formsWithin(budget: WorkBudget, uri: string): UriForms | undefined {
  if (!budget.spend(stepsPerUri + decodingSteps(uri))) return undefined;
  const forms = uriForms(uri);
  return budget.spend(forms.loose.length * uri.length * stepsPerForm) ? forms : undefined;
}

/** A text is decoded only where it has something to decode: layer by layer, and in several ways. */
function decodingSteps(uri: string): number {
  return plainText.test(uri) ? 1 : 1 + uri.length * stepsPerDecoding;
}

const plainText = /^[!-$&-[\]-~]*$/;

const stepsPerUri = 100;
const stepsPerDecoding = 8;
const stepsPerForm = 4;
