import type { Decision, ServerAccess, ServerSpec, ToolHints } from '../../domain/index.ts';
import { isReadOnly } from './scopes.ts';
import { compileToolKind, type ToolKindOf } from './tool-kind.ts';

/** What statements on access do to a server's tools; each answer is undefined where they let a tool be. */
export interface AccessGate {
  /** An empty list of scopes grants nothing, neither tools nor what can be read. */
  readonly shut: Decision | undefined;
  /** The server is read-only, and the tool may write. */
  refuse(tool: string, hints: ToolHints | null): Decision | undefined;
  /** The tool may write, and that wants a human. */
  hold(tool: string, hints: ToolHints | null): Decision | undefined;
}

/** The server's own statement, and those of others that restrict it; each counts. */
export function compileAccess(spec: ServerSpec): AccessGate {
  const statements = [spec.access, ...spec.restrictedBy.flatMap(({ access }) => access ?? [])];
  const speaking = statements.filter((access) => isReadOnly(access) || access.writeRequiresApproval);
  // Most servers say nothing; theirs need not even be recognised.
  if (speaking.length === 0) return openGate;
  const kindOf = compileToolKind(spec);
  const gates = speaking.map((access) => compileStatement(spec.name, access, kindOf));
  return {
    shut: first(gates, ({ shut }) => shut),
    refuse: (tool, hints) => first(gates, (gate) => gate.refuse(tool, hints)),
    hold: (tool, hints) => first(gates, (gate) => gate.hold(tool, hints)),
  };
}

function compileStatement(server: string, access: ServerAccess, kindOf: ToolKindOf): AccessGate {
  const { source, scopes, writeRequiresApproval } = access;
  const readOnly = isReadOnly(access);
  const judge = (kind: 'read-only' | 'write-approval', tool: string, hints: ToolHints | null): Decision | undefined => {
    const toolKind = kindOf(tool, hints);
    if (toolKind.kind === 'reads') return undefined;
    const effect = kind === 'read-only' ? 'deny' : 'ask';
    return { effect, reason: { kind, server, because: toolKind.because, source } };
  };
  return {
    shut: scopes?.length === 0 ? { effect: 'deny', reason: { kind: 'no-scope', server, source } } : undefined,
    refuse: (tool, hints) => (readOnly ? judge('read-only', tool, hints) : undefined),
    hold: (tool, hints) => (writeRequiresApproval ? judge('write-approval', tool, hints) : undefined),
  };
}

function first(gates: readonly AccessGate[], ask: (gate: AccessGate) => Decision | undefined): Decision | undefined {
  for (const gate of gates) {
    const answer = ask(gate);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

const openGate: AccessGate = { shut: undefined, refuse: () => undefined, hold: () => undefined };
