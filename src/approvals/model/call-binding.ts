import { createHash } from 'node:crypto';

/** The exact call that an approval is for. */
export interface CallBinding extends CallConditions {
  readonly project: string;
  /** The agent and those that delegated to it, nearest first. */
  readonly chain: readonly string[];
  /** The run of the caller; its token or agent if it names no run of its own. */
  readonly run: string;
  readonly server: string;
  /** The tool, resource or prompt, as in policies. */
  readonly subject: string;
  /** The canonical text of the arguments: keys sorted, numbers and strings as written. */
  readonly arguments: string;
  /** The canonical text of the caller's answers to the server's requests; empty for none. */
  readonly inputs: string;
}

/** What must not change between a decision and the call. */
export interface CallConditions {
  /** A digest of everything that the hub connects to the server with. */
  readonly credential: string;
  /** The fingerprint of the tool's definition. */
  readonly definition: string;
  /** The rule that asks, without its line. */
  readonly rule: string;
}

/** The same for every attempt of the same caller to do the same thing, whatever has changed around it. */
export function callKeyOf(binding: CallBinding): string {
  const { project, chain, run, server, subject, arguments: args, inputs } = binding;
  return digest([project, chain, run, server, subject, args, inputs]);
}

/** What is no longer as it was, in words; empty if nothing has changed. */
export function changedConditions(before: CallConditions, now: CallConditions): readonly string[] {
  return [
    ...(before.credential === now.credential ? [] : ["the server's address or credential"]),
    ...(before.definition === now.definition ? [] : ["the tool's definition"]),
    ...(before.rule === now.rule ? [] : ['the rule that asks']),
  ];
}

/** JSON of an array, because its parts cannot run into each other. */
function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
