import { HubError } from '../../../base/index.ts';
import type { ApprovalSummaryBody, ApproveOrderBody } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { withApprovals } from './approval-client.ts';
import { approvalTable, grantTable, showLines } from './approval-lines.ts';

export interface ApprovalListOptions {
  readonly all?: boolean;
  readonly follow?: boolean;
}

export async function listApprovals(
  cli: CliContext,
  invocation: Invocation,
  { all = false, follow = false }: ApprovalListOptions,
) {
  if (follow) {
    const { followApprovals } = await import('./follow-approvals.ts');
    await followApprovals(cli, invocation);
    return;
  }
  const approvals = await withApprovals(cli, invocation, (client) => client.list(all));
  if (invocation.json) cli.terminal.out(JSON.stringify(approvals));
  else if (approvals.length === 0) cli.terminal.err('Nothing waits for approval.');
  else for (const line of approvalTable(cli, approvals)) cli.terminal.out(line);
}

export async function showApproval(cli: CliContext, invocation: Invocation, id: string): Promise<void> {
  const approval = await withApprovals(cli, invocation, (client) => client.show(id));
  if (invocation.json) cli.terminal.out(JSON.stringify(approval));
  else for (const line of showLines(cli, approval)) cli.terminal.out(line);
}

export interface ApproveOptions {
  readonly for?: string;
  readonly theseArguments?: boolean;
}

export async function approveCall(cli: CliContext, invocation: Invocation, id: string, options: ApproveOptions) {
  const grant = grantOrder(cli, options);
  const answer = await withApprovals(cli, invocation, (client) => client.approve(id, grant));
  if (invocation.json) {
    cli.terminal.out(JSON.stringify(answer));
    return;
  }
  const { server, tool, agent } = answer.approval;
  if (answer.grant === undefined) {
    cli.terminal.err(`Approved: ${agent} may call ${server}.${tool} once, with these arguments.`);
    return;
  }
  cli.terminal.err(
    `Approved, with grant ${answer.grant.id}. \`qm approvals revoke ${answer.grant.id}\` takes it back.`,
  );
}

export interface DenyOptions {
  readonly reason?: string;
  readonly suggest?: string;
}

export async function denyCall(cli: CliContext, invocation: Invocation, id: string, { reason, suggest }: DenyOptions) {
  const denial = { ...(reason === undefined ? {} : { reason }), ...(suggest === undefined ? {} : { suggest }) };
  const approval = await withApprovals(cli, invocation, (client) => client.deny(id, denial));
  tell(cli, invocation, approval, suggest === undefined ? 'Denied' : 'Denied; the suggested call is approved once');
}

export async function lookLater(cli: CliContext, invocation: Invocation, id: string): Promise<void> {
  tell(cli, invocation, await withApprovals(cli, invocation, (client) => client.notNow(id)), 'Still open');
}

export async function printPageUrl(cli: CliContext, invocation: Invocation, id: string, person: string | undefined) {
  const link = await withApprovals(cli, invocation, (client) => client.link(id, person));
  cli.terminal.out(invocation.json ? JSON.stringify(link) : link.url);
  if (!invocation.json) cli.terminal.err(`It opens the page once, until ${link.expires}. Whoever has it can decide.`);
}

export interface ResolveOptions {
  readonly ran?: boolean;
  readonly didNotRun?: boolean;
}

export async function resolveCall(cli: CliContext, invocation: Invocation, id: string, options: ResolveOptions) {
  const { ran = false, didNotRun = false } = options;
  if (ran === didNotRun) {
    throw new HubError('USAGE', 'Say what you found: --ran or --did-not-run.', {
      hint: 'Look at the effect of the call first; `qm approvals show` has its arguments.',
    });
  }
  const approval = await withApprovals(cli, invocation, (client) => client.resolve(id, ran));
  tell(cli, invocation, approval, ran ? 'Closed as run' : 'Closed as not run');
}

export async function listGrants(cli: CliContext, invocation: Invocation): Promise<void> {
  const all = await withApprovals(cli, invocation, (client) => client.grants());
  if (invocation.json) cli.terminal.out(JSON.stringify(all));
  else if (all.length === 0) cli.terminal.err('There are no standing grants.');
  else for (const line of grantTable(cli, all)) cli.terminal.out(line);
}

export async function revokeGrant(cli: CliContext, invocation: Invocation, id: string): Promise<void> {
  const grant = await withApprovals(cli, invocation, (client) => client.revoke(id));
  if (invocation.json) cli.terminal.out(JSON.stringify(grant));
  else cli.terminal.err(`Grant ${id} is revoked after ${grant.used} calls. The next call asks again.`);
}

function tell(cli: CliContext, { json }: Invocation, approval: ApprovalSummaryBody, what: string): void {
  const { agent, server, tool } = approval;
  if (json) cli.terminal.out(JSON.stringify(approval));
  else cli.terminal.err(`${what}: ${server}.${tool} of ${agent}.`);
}

function grantOrder(
  { clock }: CliContext,
  { for: given, theseArguments = false }: ApproveOptions,
): ApproveOrderBody['grant'] | undefined {
  if (given === undefined) {
    if (!theseArguments) return undefined;
    throw new HubError(
      'USAGE',
      '--these-arguments needs --for: without it, one call with these arguments is approved.',
    );
  }
  const same = theseArguments ? { theseArguments } : {};
  if (given === 'run') return { run: true, ...same };
  if (/^\d{1,5}$/.test(given)) return { run: false, calls: Number(given), ...same };
  const [, digits = '', unit = ''] = /^(\d{1,4})([smhd])$/.exec(given) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (ms > 0) return { run: false, until: new Date(clock.now() + ms).toISOString(), ...same };
  throw new HubError('USAGE', `"${given.slice(0, 40)}" is not something to approve for.`, {
    hint: 'Write --for run, --for 20 (calls), or --for 2h.',
  });
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
