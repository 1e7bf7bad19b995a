import { Command } from 'commander';
import { checkAgent, withAgent } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import type { Explanation } from '../json-shapes.ts';
import type { NamedTool, Verdict } from '../tool-question.ts';

export function explainCommand(cli: CliContext): Command {
  return withAgent(new Command('explain'), 'whose rights')
    .description('say which rule decides on a call, and why')
    .argument('<server.tool>', 'the tool')
    .option('--args <json>', 'the arguments of the call in question')
    .action((tool: string, options: ExplainOptions, command: Command) =>
      explain(cli, readInvocation(command, cli), tool, options),
    );
}

interface ExplainOptions {
  readonly agent: string;
  readonly args?: string;
}

async function explain(cli: CliContext, invocation: Invocation, text: string, options: ExplainOptions): Promise<void> {
  const { terminal } = cli;
  const [{ withLocalHub }, { judge, readToolName, sayVerdict }, { argumentsFromJson }, { strangerNote }] =
    await Promise.all([
      import('../local-hub.ts'),
      import('../tool-question.ts'),
      import('../tool-arguments.ts'),
      import('../agent-note.ts'),
    ]);
  const agent = checkAgent(options.agent);
  if (options.args !== undefined) argumentsFromJson(options.args);
  await withLocalHub(cli, invocation, async (hub) => {
    const name = readToolName(text, hub.fleet);
    const verdict = judge(hub, agent, name);
    const answer = toExplanation(agent, name, verdict, sayVerdict(verdict, name));
    if (answer.decision !== 'allow') cli.exitWith(5);
    if (invocation.json) {
      terminal.out(JSON.stringify(answer));
      return;
    }
    const { green, yellow, red } = terminal.colours;
    terminal.out({ allow: green, ask: yellow, deny: red }[answer.decision](answer.text));
    const note = strangerNote(hub.fleet, agent);
    if (note !== undefined) terminal.err(terminal.errColours.dim(note));
  });
}

function toExplanation(agent: string, { server, tool }: NamedTool, verdict: Verdict, text: string): Explanation {
  if (verdict.kind !== 'decided') {
    const { kind, file, line } = verdict;
    const source = { file, ...(line === undefined ? {} : { line }) };
    return { agent, server, tool, decision: 'deny', reason: kind, source, pattern: null, text };
  }
  const { effect, reason } = verdict.decision;
  return {
    agent,
    server,
    tool,
    decision: effect,
    reason: reason.kind,
    source: 'source' in reason ? reason.source : null,
    pattern: reason.kind === 'rule' ? reason.pattern : null,
    text,
  };
}
