import type { CallApproval } from '../../approvals/index.ts';
import { HubError } from '../../base/index.ts';
import type { CallResult } from '../call.ts';
import type { CallRun } from '../path/call-run.ts';
import type { Target } from '../target.ts';

/** What a caller is told about a question that is still open. */
interface PendingFacts {
  readonly status: 'pending-approval';
  readonly id: string;
  /** Where a person decides. */
  readonly url?: string;
  readonly expires: string;
  readonly retry: string;
}

/**
 * The answer to a call that waits for approval. A success, because clients give up on errors or repeat them at once. A
 * tool with an output schema cannot have another result, so its call is answered as a tool's error.
 */
export function pendingResult(run: CallRun, approval: CallApproval): CallResult {
  const { call, target, path } = run;
  const url = path.approvals?.linkTo(approval.id);
  const facts: PendingFacts = {
    status: 'pending-approval',
    id: approval.id,
    ...(url === undefined ? {} : { url }),
    expires: new Date(approval.expires).toISOString(),
    retry: 'Call the tool again with the same arguments.',
  };
  if (call.request.approvalWait !== undefined || target.kind !== 'tool') {
    return { kind: 'failed', error: pendingError(target, facts) };
  }
  const { client } = call.request;
  const asksForUrl = url !== undefined && client?.takesInputRequired === true;
  if (asksForUrl && client.clientCapabilities.canAnswer('elicitation/create', { mode: 'url' })) {
    return urlResult(target, facts, url);
  }
  return textResult(target, facts);
}

function textResult(target: Target, facts: PendingFacts): CallResult {
  const hasSchema = target.tool !== undefined && hasOutputSchema(target.tool.text);
  const content = [{ type: 'text', text: pendingText(target, facts) }];
  const value = hasSchema
    ? { content, isError: true, _meta: { 'quartermaster/approval': facts } }
    : { content, structuredContent: facts };
  return { kind: 'result', result: { kind: 'result', id: 0, text: JSON.stringify(value), value } };
}

/** The client opens the link and calls again; the faces turn this into `input_required`. */
function urlResult(target: Target, facts: PendingFacts, url: string): CallResult {
  const message = `${target.server}.${target.subjectName} needs approval.`;
  const elicitation = { mode: 'url', elicitationId: facts.id, url, message };
  const error = { code: urlElicitationRequired, message, data: { elicitations: [elicitation], approval: facts } };
  return { kind: 'error', code: error.code, message, text: JSON.stringify(error) };
}

const urlElicitationRequired = -32042;

export function pendingText({ server, subjectName }: Target, { id, url, expires, retry }: PendingFacts): string {
  const where = url === undefined ? '' : ` They can decide at ${url}.`;
  return (
    `${server}.${subjectName} needs a person's approval, and nobody has decided yet. Nothing was sent.` +
    ` Approval ${id} is open until ${expires}.${where} ${retry} It then waits again, or runs once if it was approved.`
  );
}

/** For programs, and for calls whose result has a fixed shape. */
function pendingError(target: Target, { id, url, expires }: PendingFacts): HubError {
  const { server, subjectName: tool } = target;
  return new HubError('APPROVAL_REQUIRED', `${server}.${tool} needs approval ${id}, and nobody has decided yet.`, {
    hint: `Nothing was sent. Call again with the same arguments; the approval is open until ${expires}.`,
    details: { server, tool, approval: id, expires, ...(url === undefined ? {} : { url }) },
  });
}

function hasOutputSchema(text: string): boolean {
  const { outputSchema } = JSON.parse(text) as { outputSchema?: unknown }; // the definition of a tool
  return outputSchema !== undefined;
}
