import { Command } from 'commander';
import { checkAgent } from '../agents/agent-option.ts';
import { readDuration } from '../calls/calls-filter.ts';
import { copiesNote } from '../calls/copies-note.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

export function auditCommand(cli: CliContext): Command {
  return new Command('audit')
    .description('find rights that nobody uses')
    .addHelpText('after', helpExamples('qm audit tools', 'qm audit tools --agent tester --since 7d'))
    .helpCommand(false)
    .addCommand(toolsCommand(cli));
}

function toolsCommand(cli: CliContext): Command {
  return new Command('tools')
    .description('list the tools that agents see and never used, with their size and what removes them')
    .addHelpText('after', helpExamples('qm audit tools', 'qm audit tools --agent tester --since 7d --json'))
    .option('--agent <name>', 'only this agent')
    .option('--since <time>', 'only calls of the last 30m, 2h or 7d count (default: the whole audit log)')
    .action((options: AuditOptions, command: Command) => auditAgents(cli, readInvocation(command, cli), options));
}

interface AuditOptions {
  readonly agent?: string;
  readonly since?: string;
}

async function auditAgents(cli: CliContext, invocation: Invocation, options: AuditOptions): Promise<void> {
  const { clock, terminal } = cli;
  const wanted = options.agent === undefined ? undefined : checkAgent(options.agent);
  const since = options.since === undefined ? undefined : clock.now() - readDuration(options.since);
  const [{ readToolUses }, { ledgerPlaces }, { stateLayout }, { withLocalHub }, { auditedAgents, auditTools }] =
    await Promise.all([
      import('../../../ledger/index.ts'),
      import('../../../storage/index.ts'),
      import('../hub/state-layout.ts'),
      import('../hosting/local-hub.ts'),
      import('../audit/audit-tools.ts'),
    ]);
  terminal.progress('Reading the audit log …');
  const uses = await readToolUses(ledgerPlaces(stateLayout(cli, invocation.workspace)), { since, clock });
  terminal.progress('');
  await withLocalHub(cli, invocation, async (hub) => {
    const audits = (wanted === undefined ? auditedAgents(hub, uses) : [wanted]).map((agent) =>
      auditTools(hub, uses, agent),
    );
    if (invocation.json) {
      terminal.out(JSON.stringify(audits));
      return;
    }
    const { auditLines, periodText } = await import('../audit/audit-lines.ts');
    for (const [at, audit] of audits.entries()) {
      if (at > 0) terminal.out('');
      for (const line of auditLines(audit, terminal)) terminal.out(line);
    }
    const { strangerNote } = await import('../agents/agent-note.ts');
    const note = wanted === undefined ? undefined : strangerNote(hub.configuration, wanted);
    if (note !== undefined) terminal.err(terminal.errColours.dim(note));
    if (uses.from !== null) terminal.err(terminal.errColours.dim(periodText(uses.from)));
    else terminal.err('The audit log has no calls in this time, so nothing shows which tools are used.');
    if (uses.source === 'copies' && uses.from !== null) terminal.err(terminal.errColours.yellow(copiesNote));
  });
}
