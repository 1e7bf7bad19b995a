import { Command } from 'commander';
import { createId, HubError } from '../../../base/index.ts';
import type { CallRequest, CallResult, ViewEntry } from '../../../calls/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { checkAgent, checkRun, withAgent } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { oneLine, printable } from '../printable.ts';
import type { ToolArguments } from '../tool-arguments.ts';

export function callCommand(cli: CliContext): Command {
  return withAgent(new Command('call'), 'as whom')
    .description('call a tool as an agent would, under its rules and on the ledger')
    .argument('<server.tool>', 'the tool, or the name the agent sees')
    .argument('[k=v...]', "arguments; text unless the tool's schema says otherwise, k:=JSON for anything")
    .option('--args <json>', 'all arguments as one JSON object, sent as it is; - reads it from stdin')
    .option('--run <id>', 'the run to record the call under (default: a new one)')
    .option('--timeout <time>', 'give up after this long, such as 30s or 5m')
    .action((tool: string, words: string[], options: CallCommandOptions, command: Command) =>
      call(cli, readInvocation(command, cli), tool, words, options),
    );
}

interface CallCommandOptions {
  readonly agent: string;
  readonly args?: string;
  readonly run?: string;
  readonly timeout?: string;
}

const discoveryMs = 30_000;

async function call(
  cli: CliContext,
  invocation: Invocation,
  tool: string,
  words: readonly string[],
  options: CallCommandOptions,
): Promise<void> {
  const agent = checkAgent(options.agent);
  const run = checkRun(options.run);
  const [{ withLocalHub }, { locateTool }, { parseTtl }] = await Promise.all([
    import('../local-hub.ts'),
    import('../../library/index.ts'),
    import('../../../governance/index.ts'),
  ]);
  const timeoutMs = options.timeout === undefined ? undefined : parseTtl(options.timeout);
  const argumentsFor = await readArguments(cli, words, options.args);
  await withLocalHub(cli, invocation, async (hub) => {
    const stop = cli.signals.graceful();
    const caller = hub.callerFor({ agent, run });
    cli.terminal.progress(`Looking for ${tool} …`);
    const entry = await locateTool(hub, caller.chain, tool, { clock: cli.clock, limitMs: discoveryMs, signal: stop });
    cli.terminal.progress('');
    const args = await argumentsFor(entry);
    const ended = new AbortController();
    const attended = await attend(cli, { tool, server: entry?.server ?? '', quiet: invocation.json }, ended.signal);
    const { call: underWay, result } = hub.call({
      kind: 'tool',
      caller,
      name: entry?.name ?? tool,
      argumentsText: args.text,
      args: args.value,
      meta: '',
      ...attended,
    });
    const onStop = (): void => underWay.cancel('interrupted at the terminal');
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
    const timer =
      timeoutMs === undefined
        ? undefined
        : cli.clock.setTimer(timeoutMs, () => underWay.cancel(`no answer within --timeout ${options.timeout}`));
    const outcome = await result;
    timer?.cancel();
    ended.abort();
    cli.terminal.progress('');
    await tellOutcome(cli, { hub, agent, tool, entry, json: invocation.json }, outcome);
  });
}

/** What the server may say and ask meanwhile; only somebody at a terminal can be asked. */
async function attend(
  cli: CliContext,
  { tool, server, quiet }: { readonly tool: string; readonly server: string; readonly quiet: boolean },
  ended: AbortSignal,
): Promise<Pick<CallRequest, 'channel' | 'client'>> {
  const { terminal, stdin, random } = cli;
  if (!terminal.errIsTerminal) return { channel: undefined };
  if (quiet || stdin.isTTY !== true) return { channel: { progress: (params) => showProgress(cli, tool, params) } };
  const [{ createPerson, personCapabilities }, { askableOf }] = await Promise.all([
    import('../ask-person.ts'),
    import('../../../mcp/index.ts'),
  ]);
  const person = createPerson(cli, { server, signal: ended });
  const session = createId(random, 26);
  return {
    client: { principal: session, session, askable: askableOf(personCapabilities), takesRounds: false },
    channel: {
      progress: (params) => person.isAsked || showProgress(cli, tool, params),
      ask: (question) => {
        terminal.progress('');
        return person.ask(question);
      },
    },
  };
}

/** Reads what can be read before a server is started; the tool's schema is known only afterwards. */
async function readArguments(
  cli: CliContext,
  words: readonly string[],
  json: string | undefined,
): Promise<(entry: ViewEntry | undefined) => Promise<ToolArguments>> {
  const { argumentsFromJson, argumentsFromPairs, readPairs } = await import('../tool-arguments.ts');
  if (json !== undefined) {
    if (words.length > 0) throw new HubError('USAGE', 'Give the arguments as k=v or as --args, not both.');
    const args = argumentsFromJson(json === '-' ? await readAll(cli) : json);
    return async () => args;
  }
  const pairs = readPairs(words);
  const { toAgentTool } = await import('../../library/index.ts');
  return async (entry) => argumentsFromPairs(pairs, entry === undefined ? {} : toAgentTool(entry).inputSchema);
}

async function readAll({ stdin }: CliContext): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function showProgress(
  { terminal }: CliContext,
  tool: string,
  { progress, total, message }: Readonly<Record<string, unknown>>,
): void {
  const share = typeof progress === 'number' ? `${progress}${typeof total === 'number' ? `/${total}` : ''}` : '';
  const words = typeof message === 'string' ? oneLine(message) : '';
  terminal.progress([tool, share, words].filter((part) => part !== '').join(' '));
}

interface CallSubject {
  readonly hub: Hub;
  readonly agent: string;
  readonly tool: string;
  readonly entry: ViewEntry | undefined;
  readonly json: boolean;
}

async function tellOutcome(cli: CliContext, subject: CallSubject, outcome: CallResult): Promise<void> {
  const { hub, agent, tool, entry, json } = subject;
  const { terminal } = cli;
  if (outcome.kind === 'failed' && outcome.error.code === 'TOOL_UNKNOWN') {
    const { whyUnknown } = await import('../tool-question.ts');
    throw whyUnknown(hub, agent, tool);
  }
  if (outcome.kind === 'failed' && outcome.error.code === 'APPROVAL_REQUIRED' && entry !== undefined) {
    const { describeDecision } = await import('../../../governance/index.ts');
    throw new HubError('APPROVAL_REQUIRED', describeDecision(entry.decision, entry.server, entry.tool.name), {
      hint: 'Approvals cannot be given yet, so the call is denied; change the rule to allow it.',
      details: outcome.error.details,
    });
  }
  const { expectAnswer } = await import('../../library/index.ts');
  const { result } = expectAnswer(outcome, entry);
  const isError = result.value.isError === true;
  if (isError) cli.exitWith(1);
  if (json) {
    terminal.out(result.text);
    return;
  }
  const { contentLines } = await import('../content-text.ts');
  for (const text of contentLines(result.value)) {
    if (terminal.outIsTerminal) terminal.out(printable(text));
    else terminal.raw(text);
  }
  if (isError) terminal.err(`${terminal.errColours.red('qm:')} The tool ${tool} reported an error.`);
}
