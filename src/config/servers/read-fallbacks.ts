import { child, type SourceNode } from '../files/source-tree.ts';
import type { Finding } from '../findings.ts';
import type { ServerPlace, TransportDraft } from './server-draft.ts';
import { readTransport } from './transport-draft.ts';

/** The fallback transports, in the order written. */
export function readFallbacks(node: SourceNode, findings: Finding[], place: ServerPlace): TransportDraft[] {
  const list = child(node, 'fallback');
  return (list?.kind === 'list' ? list.items : []).flatMap((item, index) => {
    const read = readTransport(item, place, {}, `fallback.${index}`);
    findings.push(...read.findings);
    return read.transport === undefined ? [] : [read.transport];
  });
}
