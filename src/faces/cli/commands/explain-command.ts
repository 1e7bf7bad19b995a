import { Command } from 'commander';
import { errorTable } from '../../../base/index.ts';
import type { Configuration, Decision, ServerAccess } from '../../../domain/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { checkAgent, withAgent } from '../agents/agent-option.ts';
import type { NamedTool, ToolVerdict } from '../agents/explain-question.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { Explanation } from '../json-shapes.ts';
import { printableLine } from '../terminal/printable.ts';

export function explainCommand(cli: CliContext): Command {
  return withAgent(new Command('explain'), 'the agent')
    .description('show which rule allows or denies a call, and where it is written')
    .addHelpText(
      'after',
      helpExamples(
        'qm explain files.write_file --agent tester',
        `qm explain files.write_file --agent tester --args '{"path":"notes.md"}'`,
      ),
    )
    .argument('<server.tool>', 'the tool; or server.resource:URI, or server.prompt:NAME')
    .option('--args <json>', 'arguments of the call, as one JSON object')
    .option('--run <id>', 'the run of the call, for rules that depend on its labels')
    .action((tool: string, options: ExplainOptions, command: Command) =>
      explain(cli, readInvocation(command, cli), tool, options),
    );
}

interface ExplainOptions {
  readonly agent: string;
  readonly args?: string;
  readonly run?: string;
}

async function explain(cli: CliContext, invocation: Invocation, text: string, options: ExplainOptions): Promise<void> {
  const { terminal } = cli;
  const [
    { withLocalHub },
    { judge, judgeByShadow, readToolName, sayVerdict },
    { argumentsFromJson },
    { strangerNote },
    { adviceOn, policyEntriesFor },
    { findKnown },
  ] = await Promise.all([
    import('../hosting/local-hub.ts'),
    import('../agents/explain-question.ts'),
    import('../agents/tool-arguments.ts'),
    import('../agents/agent-note.ts'),
    import('../../../governance/index.ts'),
    import('../agents/known-tool.ts'),
  ]);
  const agent = checkAgent(options.agent);
  const args = options.args === undefined ? undefined : argumentsFromJson(options.args).value;
  await withLocalHub(cli, invocation, async (hub) => {
    const name = readToolName(text, hub);
    const labels = options.run === undefined ? undefined : hub.labelsOf(options.run);
    const asks = args !== undefined || options.run !== undefined;
    const call = asks ? { args: args ?? {}, ...(options.run === undefined ? {} : { labels }) } : undefined;
    const verdict = judge(hub, agent, name, call);
    const widest = policyEntriesFor(hub.configuration, agent).at(-1);
    const lifting = { access: accessOf(hub.configuration, name), owner: widest?.title ?? `agent ${agent}` };
    const found = findKnown(hub, name);
    const answer = toExplanation({
      known: found.kind === 'unknowable' ? null : found.kind === 'found',
      agent,
      role: widest === undefined || widest.entry.name === agent ? null : widest.entry.name,
      ...name,
      verdict,
      text:
        found.kind === 'missing'
          ? `${found.text} By the rules, ${sayVerdict(verdict, name)}`
          : sayVerdict(verdict, name),
      shadow: verdict.kind === 'decided' ? judgeByShadow(hub, agent, name, call) : null,
      fix:
        verdict.kind === 'decided'
          ? (askFirst(hub, agent, verdict.decision) ?? adviceOn(verdict.decision, name, lifting) ?? null)
          : null,
    });
    if (answer.decision !== 'allow') cli.exitWith(5);
    if (found.kind === 'missing') cli.exitWith(errorTable.USAGE.exit);
    if (invocation.json) {
      terminal.out(JSON.stringify(answer));
      return;
    }
    const { green, yellow, red } = terminal.colours;
    const ink = found.kind === 'missing' ? red : { allow: green, ask: yellow, deny: red }[answer.decision];
    terminal.say(ink(answer.text));
    if (answer.fix !== null) terminal.say(answer.fix);
    if (answer.shadow !== null) terminal.say(`By the shadow policy: ${answer.shadow.text}`);
    if (options.run !== undefined) terminal.say(sayLabels(options.run, labels));
    await warnOfNames(cli, hub, name);
    const note = answer.role === null ? strangerNote(hub.configuration, agent) : roleNote(agent, answer.role);
    if (note !== undefined) terminal.err(terminal.errColours.dim(note));
  });
}

/** The operator may look at a rule here that names nothing. */
async function warnOfNames({ terminal }: CliContext, hub: Hub, { server }: NamedTool): Promise<void> {
  const { problemLines } = await import('../servers/problem-lines.ts');
  const problems = hub.unknownNames().filter((problem) => problem.server === server);
  for (const line of problemLines(problems, terminal.errColours)) terminal.err(line);
}

function sayLabels(run: string, labels: ReadonlySet<string> | undefined): string {
  if (labels === undefined)
    return `The labels of run ${printableLine(run)} cannot be read, so rules that use one apply.`;
  const list = labels.size === 0 ? 'no labels' : `the labels ${[...labels].sort().join(', ')}`;
  return `Run ${printableLine(run)} has ${list}.`;
}

function accessOf(configuration: Configuration, { server }: NamedTool): ServerAccess | undefined {
  const entry = configuration.servers.get(server);
  return entry?.kind === 'ready' ? entry.spec.access : undefined;
}

function roleNote(agent: string, role: string): string {
  return `Agent ${agent} has role ${role}: the entry ${role} applies to it.`;
}

/** Explaining starts no server, so the annotations of its tools may be unknown yet; then advise to list them first. */
function askFirst(hub: Hub, agent: string, { reason }: Decision): string | undefined {
  if (!('because' in reason) || reason.because !== 'no-word') return undefined;
  if (hub.status().find(({ name }) => name === reason.server)?.tools !== undefined) return undefined;
  return `Server ${reason.server} has not listed its tools yet: run \`qm tools --agent ${agent}\`.`;
}

interface Explained extends NamedTool {
  readonly agent: string;
  readonly role: string | null;
  readonly verdict: ToolVerdict;
  readonly text: string;
  readonly fix: string | null;
  readonly known: boolean | null;
  readonly shadow: Explanation['shadow'];
}

function toExplanation({ verdict, text, fix, known, shadow, ...who }: Explained): Explanation {
  if (verdict.kind !== 'decided') {
    const { kind, file, line } = verdict;
    const source = { file, ...(line === undefined ? {} : { line }) };
    return { ...who, decision: 'deny', reason: kind, source, pattern: null, because: null, text, fix, known, shadow };
  }
  const { effect, reason } = verdict.decision;
  return {
    ...who,
    decision: effect,
    reason: reason.kind,
    source: 'source' in reason ? reason.source : null,
    pattern: reason.kind === 'rule' ? reason.pattern : null,
    because: 'because' in reason ? reason.because : null,
    text,
    fix,
    known,
    shadow,
  };
}
