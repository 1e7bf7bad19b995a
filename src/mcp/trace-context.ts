/**
 * Members of `_meta` that say what the headers `traceparent` and `tracestate` of a request say, empty where they say
 * nothing valid. The forms are those of W3C Trace Context; a later version may say more after its fourth part.
 */
export function traceMembers(traceparent: string, tracestate: string | undefined): string {
  const [, version, traceId, parentId, more] = parent.exec(traceparent.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== '')) return '';
  if (traceId === noTrace || parentId === noParent) return '';
  const members = `"traceparent":"${traceparent.trim()}"`;
  return tracestate !== undefined && state.test(tracestate)
    ? `${members},"tracestate":${JSON.stringify(tracestate)}`
    : members;
}

const parent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}((?:-[\x21\x23-\x5b\x5d-\x7e]{0,200})?)$/;
const noTrace = '0'.repeat(32);
const noParent = '0'.repeat(16);
/** As long as whoever passes it on must at least manage. */
const state = /^[\x20-\x7e]{1,512}$/;
