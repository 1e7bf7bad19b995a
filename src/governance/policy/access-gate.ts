import type { Decision, ServerSpec, ToolHints } from '../../domain/index.ts';
import { isReadOnly } from './scopes.ts';
import { compileToolKind } from './tool-kind.ts';

/** What a server's own statement on access does to its tools; both answers are undefined where it lets them be. */
export interface AccessGate {
  /** The server is read-only, and the tool may write. */
  refuse(tool: string, hints: ToolHints | null): Decision | undefined;
  /** The tool may write, and that wants a human. */
  hold(tool: string, hints: ToolHints | null): Decision | undefined;
}

export function compileAccess(spec: ServerSpec): AccessGate {
  const { name: server, access } = spec;
  const readOnly = isReadOnly(access);
  // Most servers say nothing; theirs need not even be recognised.
  if (!readOnly && !access.writeRequiresApproval) return openGate;
  const kindOf = compileToolKind(spec);
  const judge = (kind: 'read-only' | 'write-approval', tool: string, hints: ToolHints | null): Decision | undefined => {
    const toolKind = kindOf(tool, hints);
    if (toolKind.kind === 'reads') return undefined;
    const effect = kind === 'read-only' ? 'deny' : 'ask';
    return { effect, reason: { kind, server, because: toolKind.because, source: access.source } };
  };
  return {
    refuse: (tool, hints) => (readOnly ? judge('read-only', tool, hints) : undefined),
    hold: (tool, hints) => (access.writeRequiresApproval ? judge('write-approval', tool, hints) : undefined),
  };
}

const openGate: AccessGate = { refuse: () => undefined, hold: () => undefined };
