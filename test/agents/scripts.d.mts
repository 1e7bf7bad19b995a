import type { Script } from './models/scripted-model.mjs';

export function visitTools(plan: {
  readonly wanted: readonly string[];
  readonly meanwhile: readonly string[];
  readonly rounds: number;
  readonly pauseMs: number;
}): Script;
