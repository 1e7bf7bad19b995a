import { hash } from 'node:crypto';

/** How much of the arguments the ledger keeps, in characters of their JSON text. */
export const longestArguments = 65_536;
/** The same of a call that was never sent: nobody needs to know all of what did not happen. */
export const longestRefusedArguments = 4096;
export const longestError = 4000;
/** Of a name that no server has. */
const longestName = 1024;

/**
 * The value of a member as JSON text. One that is too long is cut to a string with its beginning, and two more members
 * tell its full length and its hash. Called after redaction, so that no half of a secret is left at the end.
 */
export function memberText(name: 'args' | 'error', text: string, json: string, longest: number): string {
  if (text.length <= longest) return json;
  const start = startOf(text, longest);
  return cutMember(name, name === 'error' ? `${start}…` : start, text.length, hash('sha256', text, 'hex'));
}

export function cutMember(name: 'args' | 'error', start: string, length: number, sha256: string): string {
  return `${JSON.stringify(start)},"${name}_length":${length},"${name}_sha256":"${sha256}"`;
}

/** Only once: what was cut is no JSON value any more. */
export function cutArguments(call: { args: string; isCut: boolean }, longest: number): void {
  if (call.isCut) return;
  call.isCut = true;
  call.args = memberText('args', call.args, call.args, longest);
}

/** Never half of a character. */
export function startOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** The name of something that nobody has, as JSON text in an object, is as long as its caller likes. */
export function shortName(what: string): string {
  if (what.length <= longestName) return what;
  const { tool, ...others } = JSON.parse(what) as { tool: string }; // made of a subject's members
  if (tool.length <= longestName) return what;
  const { server, method } = others as { server?: unknown; method?: unknown };
  const name = `${startOf(tool, longestName)}…`;
  return JSON.stringify({ server, tool: name, ...(method === undefined ? {} : { method }) });
}
