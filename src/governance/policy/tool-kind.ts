import type { ServerSpec, ToolHints, ToolKindReason } from '../../domain/index.ts';
import { recogniseServer } from './recognise-server.ts';

/** Whether a tool only reads; if it may write, how that is known. */
export type ToolKind = { readonly kind: 'reads' } | { readonly kind: 'may-write'; readonly because: ToolKindReason };

/** Hints are null for a tool that its server has not told of. */
export type ToolKindOf = (tool: string, hints: ToolHints | null) => ToolKind;

/**
 * What we know of a server by ourselves comes first. What a server says of its own tools narrows always, and widens only
 * where its configuration says that it is trusted: a server could call anything harmless.
 */
export function compileToolKind(spec: ServerSpec): ToolKindOf {
  const known = recogniseServer(spec);
  return (tool, hints) => {
    if (known?.writes.has(tool)) return mayWrite('known-server');
    if (hints?.readOnly === false || hints?.destructive === true) return mayWrite('annotation');
    if (known?.reads.has(tool)) return reads;
    if (hints?.readOnly !== true) return mayWrite('no-word');
    return spec.access.trustAnnotations ? reads : mayWrite('untrusted-annotation');
  };
}

const reads: ToolKind = { kind: 'reads' };

function mayWrite(because: ToolKindReason): ToolKind {
  return { kind: 'may-write', because };
}
