import { isInReadOnlyMode, type ServerSpec, type ToolHints, type ToolKindReason } from '../../domain/index.ts';
import { recogniseServer } from './recognise-server.ts';

/** Whether a tool only reads, or the reason why it may write. */
export type ToolKind = { readonly kind: 'reads' } | { readonly kind: 'may-write'; readonly because: ToolKindReason };

/** `hints` is null for a tool that its server has not listed. */
export type ToolKindOf = (tool: string, hints: ToolHints | null) => ToolKind;

/**
 * The list of known servers comes first. A server's own annotations always narrow, and widen only if its configuration
 * trusts them: a server could call any tool harmless.
 */
export function compileToolKind(spec: ServerSpec): ToolKindOf {
  const known = recogniseServer(spec);
  const isSafe = [spec.transport, ...spec.fallbacks].every(isInReadOnlyMode);
  return (tool, hints) => {
    // The provider refuses to write then. Its hint that the tool destroys means nothing where it only reads.
    if (isSafe && known?.readsInMode.has(tool)) return hints?.readOnly === false ? mayWrite('annotation') : reads;
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
