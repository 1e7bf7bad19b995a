import { createHash } from 'node:crypto';
import type { ApprovalRequest, CallBinding } from '../../approvals/index.ts';
import { type Caller, type Decision, ruleOf, ruleSourceOf, type ServerSpec } from '../../domain/index.ts';
import { toolClassOf } from '../../governance/index.ts';
import { canonicalJson, canonicalText } from '../../mcp/index.ts';
import type { CallRun } from '../path/call-run.ts';
import type { Target } from '../target.ts';

/** The exact call that a person is asked about. */
export function bindingOf({ call, target, decision = target.decision, inputs }: CallRun): CallBinding {
  const { caller, argumentsText } = call.request;
  return {
    project: caller.project,
    chain: caller.chain,
    run: runKeyOf(caller),
    server: target.server,
    subject: target.subjectName,
    credential: credentialOf(target.control.spec),
    definition: target.tool?.fingerprint ?? '',
    rule: ruleKeyOf(decision),
    arguments: canonicalText(argumentsText),
    inputs: inputs === '' ? '' : canonicalText(`{${inputs}}`),
  };
}

export function approvalRequestOf({ path, call, target, decision = target.decision }: CallRun): ApprovalRequest {
  const { caller } = call.request;
  const { reason } = decision;
  const { message, approvers } = reason.kind === 'rule' ? reason : noWords;
  return {
    runId: caller.run,
    rule: ruleOf(decision),
    ruleSource: ruleSourceOf(decision),
    ...(message === undefined ? {} : { message }),
    ...(approvers === undefined ? {} : { approvers }),
    toolClass: classOf(target),
    asker: path.approvals?.askerOf(caller) ?? '',
  };
}

const noWords: Pick<ApprovalRequest, 'message' | 'approvers'> = {};

/** The hub gives a caller that names no run another one after each restart, and the caller stays the same. */
function runKeyOf({ run, runKeys, runOfHub, agent }: Caller): string {
  return runOfHub === true ? (runKeys?.[0] ?? `agent:${agent}`) : `run:${run}`;
}

/** Includes the values of headers and variables: another credential may be somebody else's account. */
function credentialOf({ transport, fallbacks }: ServerSpec): string {
  return createHash('sha256')
    .update(canonicalJson([transport, ...fallbacks]))
    .digest('base64url');
}

/** Without the line, so that an edit elsewhere in the file changes nothing. */
function ruleKeyOf(decision: Decision): string {
  const { reason } = decision;
  const file = 'source' in reason ? reason.source.file : '';
  const { limits = '', approvers = [], agent = '' } = reason.kind === 'rule' ? reason : {};
  return canonicalJson([reason.kind, ruleOf(decision), file, limits, approvers, agent]);
}

function classOf({ tool, control }: Target): ApprovalRequest['toolClass'] {
  return tool === undefined ? 'read' : toolClassOf(control.spec, tool);
}
