/** What the scripted model does in our runs. */
import { setTimeout as pause } from 'node:timers/promises';
import { findTool } from './models/scripted-model.mjs';

/**
 * Calls each wanted tool once, in order, with its own name as the message. While one is not offered yet, the model takes
 * its time and calls something else, because agents look at their tools again only between turns.
 *
 * @param {{ wanted: string[], meanwhile: string[], rounds: number, pauseMs: number }} plan
 *   meanwhile: what to call while waiting, the first that is offered · rounds: turns to wait at most
 */
export function visitTools({ wanted, meanwhile, rounds, pauseMs }) {
  const tried = new Set();
  return async ({ tools, results }) => {
    const next = wanted.find((name) => !isCalled(results, name));
    if (next === undefined) return { say: `All called: ${wanted.join(', ')}` };
    const tool = findTool(tools, next);
    if (tried.has(next)) return { say: `Failed: ${next}` };
    if (tool !== undefined) {
      tried.add(next);
      return { call: { tool, args: { message: next } } };
    }
    const filler = meanwhile.map((name) => findTool(tools, name)).find((found) => found !== undefined);
    if (filler === undefined || results.length >= wanted.length + rounds) return { say: `Not offered: ${next}` };
    await pause(pauseMs);
    // Gemini CLI takes the same call again and again for a loop and stops.
    return { call: { tool: filler, args: { message: `still waiting, ${results.length}` } } };
  };
}

/** Agents wrap results in words of their own. */
export function isCalled(results, name) {
  return results.some((text) => text.includes(name));
}
