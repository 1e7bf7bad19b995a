import type { Context, Env, Hono } from 'hono';
import type { Approver, GrantTerms } from '../../../approvals/index.ts';
import { HubError, isJsonObject } from '../../../base/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { canonicalText } from '../../../mcp/index.ts';
import { readInput } from '../read-input.ts';
import { approvalBody, approvalDetail, grantBody } from './approval-bodies.ts';
import {
  type ApproveOrderBody,
  type ApproverBody,
  approveOrderSchema,
  denyOrderSchema,
  lookOrderSchema,
  pageUrlOrderSchema,
  resolveOrderSchema,
} from './approval-contract.ts';

/** Decisions on held calls, for whoever has the admin token. */
export function addApprovalRoutes<E extends Env>(app: Hono<E, never, string>, hub: Hub): void {
  const id = (context: Context): string => context.req.param('id') ?? '';
  app.get('/approvals', async (context) => {
    const approvals = await hub.approvals.opened();
    const isWanted = context.req.query('state') === 'all' ? () => true : (state: string) => needsPerson.has(state);
    const wanted = approvals.list().filter((approval) => isWanted(approvals.stateOf(approval)));
    return context.json({ approvals: wanted.map((approval) => approvalBody(hub, approvals, approval)) });
  });
  app.get('/approvals/grants', async (context) => {
    const grants = (await hub.approvals.opened()).grants();
    return context.json({ grants: grants.map((grant) => grantBody(hub, grant)) });
  });
  app.delete('/approvals/grants/:id', async (context) => {
    const { approver } = await readInput(context, lookOrderSchema, '{}');
    const grant = await (await hub.approvals.opened()).revoke(id(context), approverOf(approver));
    return context.json(grantBody(hub, grant));
  });
  app.get('/approvals/:id', async (context) => {
    const approvals = await hub.approvals.opened();
    return context.json(await approvalDetail(hub, approvals, approvals.get(id(context))));
  });
  app.post('/approvals/:id/approve', async (context) => {
    const { grant: order, approver } = await readInput(context, approveOrderSchema, '{}');
    const approvals = await hub.approvals.opened();
    const { approval, grant } = await approvals.approve(id(context), approverOf(approver), order && termsOf(order));
    const body = { approval: approvalBody(hub, approvals, approval) };
    return context.json(grant === undefined ? body : { ...body, grant: grantBody(hub, grant) });
  });
  app.post('/approvals/:id/deny', async (context) => {
    const { reason, suggest, approver } = await readInput(context, denyOrderSchema, '{}');
    const suggestion = suggest === undefined ? {} : { suggestion: suggestionOf(suggest) };
    const approvals = await hub.approvals.opened();
    const denial = { ...(reason === undefined ? {} : { reason }), ...suggestion };
    const approval = await approvals.deny(id(context), approverOf(approver), denial);
    return context.json(approvalBody(hub, approvals, approval));
  });
  addLaterRoutes(app, hub);
}

function addLaterRoutes<E extends Env>(app: Hono<E, never, string>, hub: Hub): void {
  app.post('/approvals/:id/link', async (context) => {
    const { approver } = await readInput(context, pageUrlOrderSchema);
    // The admin token is on the disk of this machine, where a program that runs as its owner can read it.
    if (hub.configuration.approvals.require === 'page') throw onlyByNotice();
    const { url, expires } = await hub.approvals.oneTimeLink(context.req.param('id') ?? '', approver);
    return context.json({ url, expires: new Date(expires).toISOString() }, 201);
  });
  app.post('/approvals/:id/not-now', async (context) => {
    const { approver } = await readInput(context, lookOrderSchema, '{}');
    const approvals = await hub.approvals.opened();
    const approval = await approvals.notNow(context.req.param('id') ?? '', approverOf(approver));
    return context.json(approvalBody(hub, approvals, approval));
  });
  app.post('/approvals/:id/resolve', async (context) => {
    const { ran, approver } = await readInput(context, resolveOrderSchema);
    const approvals = await hub.approvals.opened();
    const approval = await approvals.resolve(context.req.param('id') ?? '', approverOf(approver), ran);
    return context.json(approvalBody(hub, approvals, approval));
  });
}

function onlyByNotice(): HubError {
  return new HubError('APPROVAL_NOT_YOURS', 'With approvals.require: page, links are not given out on this machine.', {
    hint: 'The terminal that runs `qm serve` shows a link for each held call. Nothing was changed.',
  });
}

/** Somebody has to decide, or to find out what happened. */
const needsPerson: ReadonlySet<string> = new Set(['open', 'unknown']);

function approverOf(approver: ApproverBody | undefined): Approver {
  if (approver === undefined) return { name: 'admin-token', via: 'api' };
  return { name: approver.name, via: approver.terminal ? 'terminal' : 'command' };
}

/** The agent must call with exactly this, so numbers and strings stay as they were written. */
function suggestionOf(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new HubError('INVALID_PARAMS', 'suggest: it is not valid JSON.', { cause });
  }
  if (!isJsonObject(value)) throw new HubError('INVALID_PARAMS', 'suggest: it must be a JSON object.');
  return canonicalText(text);
}

function termsOf({ run, calls, until, theseArguments }: NonNullable<ApproveOrderBody['grant']>): GrantTerms {
  return {
    // A grant without any other end is for the run.
    run: run ?? (calls === undefined && until === undefined),
    ...(calls === undefined ? {} : { maxCalls: calls }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
    sameArguments: theseArguments === true,
  };
}
