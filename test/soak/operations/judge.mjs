const refusals = {
  hidden: { code: -32602, name: 'TOOL_UNKNOWN' },
  ask: { code: -31007, name: 'APPROVAL_REQUIRED' },
};

/**
 * Says of one answer whether it is right: the result of that very call, the refusal that the agent's rights ask for, or
 * an error that fits what was done to the server.
 */
export function createJudge({ tally, troubles, configuration, ledgerOf }) {
  /** @param {{ kind, actor, server, tool, nonce, expected: string, began: number, lenient?: boolean }} call */
  function judgeCall(call, outcome) {
    const { kind, actor, server, tool, nonce, began } = call;
    const ended = performance.now();
    const decisions = configuration.decisions(actor.agent, server, tool, began, ended);
    ledgerOf(nonce, { ...call, decisions, outcome });
    const where = `${actor.name} (${actor.client.kind}) ${server}.${tool} ${nonce}`;
    if (outcome.kind === 'result') {
      if (decisions.has('ask') && isPending(outcome.result)) return tally.right(kind);
      const problem = decisions.has('allow') ? resultProblem(outcome.result, call.expected) : 'it must not be answered';
      if (problem !== undefined) return tally.wrong(kind, `${where}: ${problem}`);
      troubles.succeeded(server, began);
      return tally.right(kind);
    }
    if (outcome.kind === 'error') return judgeError({ ...call, ended, decisions, where }, outcome);
    if (call.lenient || actor.doomed) return tally.failed(kind, server, outcome.kind);
    if (isClosedUnused(outcome)) return tally.failed(kind, server, 'HTTP 408');
    return tally.lost(kind, `${where}: ${outcome.kind} ${outcome.status ?? ''} ${outcome.words ?? ''}`);
  }

  function judgeError({ kind, actor, server, began, ended, decisions, where, lenient }, { code, name, words }) {
    for (const decision of decisions) {
      const refusal = refusals[decision];
      if (refusal?.code === code && (name === undefined || refusal.name === name)) return tally.right(kind);
    }
    const isAllowed = decisions.has('allow') && (lenient || troubles.permits(server, name, began, ended));
    const isRemoved = (name ?? 'TOOL_UNKNOWN') === 'TOOL_UNKNOWN' && code === -32602 && troubles.isCut(began, ended);
    if (isAllowed || isRemoved || actor.doomed) return tally.failed(kind, server, name ?? code);
    return tally.wrong(kind, `${where}: ${code} ${name} ${words}; expected ${[...decisions].join(' or ')}`);
  }

  /** For what is no tool: `permitted` are the codes with which it may be refused. */
  function judgeOther({ kind, actor, server, began, check, refused }, outcome) {
    const where = `${actor.name} (${actor.client.kind}) ${kind} ${server}`;
    if (outcome.kind === 'result') {
      const problem = refused ? 'it must not be answered' : check(outcome.result);
      return problem === undefined ? tally.right(kind) : tally.wrong(kind, `${where}: ${problem}`);
    }
    if (actor.doomed) return tally.failed(kind, server, outcome.kind);
    if (isClosedUnused(outcome)) return tally.failed(kind, server, 'HTTP 408');
    if (outcome.kind !== 'error') return tally.lost(kind, `${where}: ${outcome.kind} ${outcome.words ?? ''}`);
    const { code, name, words } = outcome;
    if (refused && (code === -32602 || code === -32002)) return tally.right(kind);
    const ended = performance.now();
    // Some clients keep only the number of an error.
    const isRemoved = (code === -32602 || code === -32002) && troubles.isCut(began, ended);
    if (!refused && (isRemoved || troubles.permits(server, name, began, ended)))
      return tally.failed(kind, server, name ?? code);
    return tally.wrong(kind, `${where}: ${code} ${name} ${words}`);
  }

  return { judgeCall, judgeOther };
}

/** The hub's own answer to a call that waits for a person. */
function isPending({ resultType, structuredContent, _meta }) {
  if (resultType === 'input_required') return true;
  return (structuredContent ?? _meta?.['quartermaster/approval'])?.status === 'pending-approval';
}

/**
 * The hub closes a connection on which nothing came for ten seconds. An SDK opens some ahead, and one that is late may
 * send just then. It did not run; the audit is asked, too.
 */
export function isClosedUnused({ kind, status }) {
  return kind === 'http' && status === 408;
}

function resultProblem(result, expected) {
  const text = result?.content?.[0]?.text;
  if (result?.isError) return `a tool error: ${short(text)}`;
  if (text === expected) return undefined;
  return `the answer is ${short(text)} and should be ${short(expected)}`;
}

function short(text) {
  const whole = String(text);
  return whole.length > 200 ? `${whole.slice(0, 200)}… (${whole.length} characters)` : JSON.stringify(whole);
}
