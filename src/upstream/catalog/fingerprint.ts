import { createHash } from 'node:crypto';
import { isJsonObject } from '../../base/index.ts';
import { canonicalJson } from '../../mcp/index.ts';

/**
 * Covers everything that a model, a client or a user may read, members that nobody knows yet included: a hash without
 * descriptions would miss tool poisoning. The name is left out, because the name is what a fingerprint is looked up by, and so
 * that a rename is recognised. Of `_meta` only references to user interfaces count; servers put build times and the like
 * there.
 */
export function definitionFingerprint({ _meta, ...definition }: Readonly<Record<string, unknown>>): string {
  const meta = isJsonObject(_meta) ? Object.entries(_meta).filter(([key]) => interfaceKeys.has(key)) : [];
  const subject = meta.length === 0 ? definition : { ...definition, _meta: Object.fromEntries(meta) };
  return textFingerprint(canonicalJson(subject));
}

const interfaceKeys: ReadonlySet<string> = new Set(['ui', 'ui/resourceUri', 'openai/outputTemplate']);

export function textFingerprint(text: string): string {
  return `${fingerprintStart}${createHash('sha256').update(text).digest('hex')}`;
}

/** Fingerprints of earlier versions, which covered less, have no such start. They may be stored. */
const fingerprintStart = 'sha256:';

export function isCurrent(fingerprint: string): boolean {
  return fingerprint.startsWith(fingerprintStart);
}
