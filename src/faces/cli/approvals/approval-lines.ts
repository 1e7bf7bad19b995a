import { type ApprovalDetailBody, type ApprovalSummaryBody, type GrantBody, memberTexts } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { type FittingColumn, fitColumns, naturalWidths } from '../terminal/fit-columns.ts';
import { printableLine } from '../terminal/printable.ts';
import { renderTable } from '../terminal/table.ts';
import { changedArgumentLines } from './changed-arguments.ts';

export function approvalTable({ terminal, clock }: CliContext, approvals: readonly ApprovalSummaryBody[]): string[] {
  const { colours, width } = terminal;
  const columns: readonly FittingColumn<ApprovalSummaryBody>[] = [
    { title: 'ID', text: ({ id }) => id, paint: colours.bold },
    { title: 'STATE', text: ({ state }) => state },
    { title: 'AGENT', text: ({ agent }) => printableLine(agent) },
    { title: 'TOOL', text: ({ server, tool }) => printableLine(`${server}.${tool}`) },
    { title: 'LEFT', text: ({ expires, state }) => (state === 'open' ? timeLeft(expires, clock.now()) : '-') },
    { title: 'ARGUMENTS', text: (approval) => printableLine(JSON.stringify(approval.arguments)), spare: 1 },
  ];
  return renderTable(approvals, fitColumns(columns, naturalWidths(columns, approvals), width), { colours, width });
}

export function grantTable({ terminal: { colours, width } }: CliContext, grants: readonly GrantBody[]): string[] {
  const columns: readonly FittingColumn<GrantBody>[] = [
    { title: 'ID', text: ({ id }) => id, paint: colours.bold },
    { title: 'AGENT', text: ({ agent }) => printableLine(agent) },
    { title: 'TOOL', text: ({ server, tool }) => printableLine(`${server}.${tool}`) },
    { title: 'USED', text: ({ used, calls }) => (calls === undefined ? String(used) : `${used}/${calls}`) },
    { title: 'UNTIL (UTC)', text: ({ until }) => until.slice(0, 16).replace('T', ' ') },
    { title: 'RUN', text: ({ run }) => printableLine(run ?? 'any') },
    { title: 'BY', text: ({ by }) => printableLine(by) },
    {
      title: 'ARGUMENTS',
      text: (grant) => (grant.arguments === undefined ? 'any' : printableLine(JSON.stringify(grant.arguments))),
      spare: 1,
    },
  ];
  return renderTable(grants, fitColumns(columns, naturalWidths(columns, grants), width), { colours, width });
}

/** Everything that a person needs to decide. */
export function showLines({ terminal, clock }: CliContext, approval: ApprovalDetailBody): string[] {
  const { bold, dim } = terminal.colours;
  const { id, state, server, tool, risk, chain, agent, run, rule, message, lastApproved, before, argumentsText } =
    approval;
  const row = (name: string, text: string): string => `  ${name.padEnd(10)} ${printableLine(text)}`;
  return [
    bold(printableLine(`${server}.${tool}`)),
    row('approval', `${id}, ${state}${state === 'open' ? `, ${timeLeft(approval.expires, clock.now())} left` : ''}`),
    row('agent', (chain ?? [agent]).join(' for ')),
    row('run', run),
    row('risk', risk),
    row('rule', rule ?? 'none'),
    ...(message === undefined ? [] : [row('message', message)]),
    ...(approval.by === undefined ? [] : [row('decided by', `${approval.by} (${approval.via ?? ''})`)]),
    ...(approval.reason === undefined ? [] : [row('reason', approval.reason)]),
    ...approval.seen.map(({ by, at }) => row('seen by', `${by} at ${at}`)),
    '  arguments',
    ...prettyArguments(argumentsText).map((line) => `    ${line}`),
    ...(lastApproved === undefined ? [] : changedArgumentLines(argumentsText, lastApproved, terminal.colours)),
    before.length === 0 ? dim('  The run has done nothing else yet.') : '  the run before, newest last',
    ...before.map(
      (call) => `    ${printableLine(`${call.ts.slice(11, 19)} ${call.server ?? ''}.${call.tool} ${call.outcome}`)}`,
    ),
    ...(state === 'open' ? ['', `  qm approvals approve ${id}    qm approvals deny ${id} --reason TEXT`] : []),
  ];
}

/** One member per line. The text stays as it is, because parsing would change large numbers. */
function prettyArguments(text: string): string[] {
  return memberTexts(text).map((member) => printableLine(member));
}

export function timeLeft(expires: string, now: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(expires) - now) / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
