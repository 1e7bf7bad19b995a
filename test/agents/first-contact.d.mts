import type { Turn } from './models/scripted-model.mjs';
import type { Ended } from './run-client.mjs';

export interface Scenario {
  readonly name: string;
  readonly servers: object;
  readonly quick: readonly string[];
}

export interface Verdict {
  readonly first: string;
  readonly late: string;
  readonly answered: string;
  readonly seconds: number;
  readonly problems: readonly string[];
}

export function judge(
  scenario: Scenario,
  run: Ended & { readonly turns: readonly Turn[] },
  client?: { readonly takesFirstTurnWithout?: boolean; readonly listsAgain?: boolean },
): Verdict;
