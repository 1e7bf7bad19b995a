import { type Decision, isReadOnly, type ServerAccess, type ServerSpec, type ToolHints } from '../../domain/index.ts';
import { compileToolKind, type ToolKindOf } from './tool-kind.ts';

/** Applies access settings to a server's tools. Each member is undefined where they restrict nothing. */
export interface AccessGate {
  /** Set if a list of scopes is empty, which denies tools, resources and prompts. */
  readonly shut: Decision | undefined;
  /** Denies a tool that may write on a read-only server. */
  refuse(tool: string, hints: ToolHints | null): Decision | undefined;
  /** Requires approval for a tool that may write. */
  requireApproval(tool: string, hints: ToolHints | null): Decision | undefined;
}

/** Combines the server's own access settings with those of other files that restrict it. All of them apply. */
export function compileAccess(spec: ServerSpec): AccessGate {
  const statements = [spec.access, ...spec.restrictedBy.flatMap(({ access }) => access ?? [])];
  const speaking = statements.filter((access) => isReadOnly(access) || access.writeRequiresApproval);
  // Most servers have no such settings and need not be recognised.
  if (speaking.length === 0) return openGate;
  const kindOf = compileToolKind(spec);
  const gates = speaking.map((access) => compileStatement(spec.name, access, kindOf));
  return {
    shut: first(gates, ({ shut }) => shut),
    refuse: (tool, hints) => first(gates, (gate) => gate.refuse(tool, hints)),
    requireApproval: (tool, hints) => first(gates, (gate) => gate.requireApproval(tool, hints)),
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
    requireApproval: (tool, hints) => (writeRequiresApproval ? judge('write-approval', tool, hints) : undefined),
  };
}

function first(gates: readonly AccessGate[], ask: (gate: AccessGate) => Decision | undefined): Decision | undefined {
  for (const gate of gates) {
    const answer = ask(gate);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

const openGate: AccessGate = { shut: undefined, refuse: () => undefined, requireApproval: () => undefined };
