import { decide, expectedLists, mayPrompt, mayRead } from './agents.mjs';

/** How long a change may take until it is in force everywhere. */
const settleMs = 15_000;
/** The same for one that gives rights: it waits until no file has changed for three seconds, and chaos changes many. */
const widenMs = 60_000;

function settleOf(before, after) {
  return before.toggled === 'deny' && after?.toggled === 'allow' ? widenMs : settleMs;
}

/** The configuration in force, and those that may still be. */
export function createConfiguration(workspace, urls) {
  const history = [{ from: Number.NEGATIVE_INFINITY, state: { urls, toggled: 'allow', guest: false, turn: 0 } }];

  const current = () => history.at(-1).state;
  function write() {
    for (const [file, text] of Object.entries(workspace.textsFor(current()))) workspace.replace(file, text);
  }
  /** States that may have been in force between two moments. */
  function statesDuring(from, to) {
    return history
      .filter(({ from: since, state }, index) => {
        const next = history[index + 1];
        return since <= to && (next?.from ?? to) + settleOf(state, next?.state) >= from;
      })
      .map(({ state }) => state);
  }
  return {
    current,
    write,
    change(part) {
      history.push({ from: performance.now(), state: { ...current(), ...part } });
      write();
    },
    /** Every decision that may be right for a call between two moments. */
    decisions: (agent, server, tool, from, to) =>
      new Set(statesDuring(from, to).map((state) => decide(agent, server, tool, state))),
    mayRead: (agent, server, name) => mayRead(agent, server, name, current()),
    mayPrompt: (agent, server) => mayPrompt(agent, server, current()),
    /** What must, and what may be in a list. */
    lists(agent, what, from, to) {
      const each = statesDuring(from, to).map((state) => new Set(expectedLists(agent, state)[what]));
      const may = new Set(each.flatMap((names) => [...names]));
      return { may, must: [...may].filter((name) => each.every((names) => names.has(name))) };
    },
  };
}
