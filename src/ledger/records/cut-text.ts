import { hash } from 'node:crypto';
import { compactJson } from './compact-json.ts';
import type { Redact } from './redact.ts';

/** How much of the arguments the ledger keeps, in characters of their JSON text. */
export const longestArguments = 65_536;
/** Less for a call that was never sent, because it had no effect. */
export const longestRefusedArguments = 4096;
/** Less, too, for an agent that has used up its budget of the minute. */
export const longestOverBudget = 256;
export const longestError = 4000;
/** For a name that no server has, and for the session id of a server. */
export const longestName = 1024;

/**
 * The arguments as a member's JSON text. Longer ones become a string with their beginning, followed by two members with
 * the length and hash of the whole. They are cut before they are redacted, because redacting costs much more than
 * hashing; the redactor shows no half of a secret.
 */
export function argumentsMember(text: string, longest: number, redact: Redact): string {
  const json = compactJson(redact.json(text, longest));
  if (text.length <= longest && json.length <= longest) return json;
  return cutMember('args', cutStart(json, longest), text.length, hash('sha256', text, 'hex'));
}

/** An error in the same way. An ellipsis follows its beginning. */
export function errorMember(text: string, redact: Redact, prefix: (shown: string) => string): string {
  const shown = prefix(redact.message(text, longestError));
  if (text.length <= longestError && shown.length <= longestError) return JSON.stringify(shown);
  const start = cutStart(shown.replace(/…$/, ''), longestError);
  return cutMember('error', `${start}…`, text.length, hash('sha256', text, 'hex'));
}

export function cutMember(name: 'args' | 'error', start: string, length: number, sha256: string): string {
  return `${JSON.stringify(start)},"${name}_length":${length},"${name}_sha256":"${sha256}"`;
}

/** Never splits a surrogate pair. */
export function cutStart(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** Redacts an unknown name, which can be as long as the caller likes. `what` is the JSON text of an object. */
export function shortName(what: string, redact: Redact): string {
  if (what.length <= longestName) return redact.json(what);
  const { tool, ...others } = JSON.parse(what) as { tool: string }; // built from a subject's members
  const { server, method } = others as { server?: unknown; method?: unknown };
  const name = redact.message(tool, longestName);
  return redact.json(JSON.stringify({ server, tool: name, ...(method === undefined ? {} : { method }) }));
}
