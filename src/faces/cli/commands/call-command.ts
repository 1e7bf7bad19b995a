import { Command } from 'commander';
import { createId, HubError } from '../../../base/index.ts';
import type { CallRequest, CallResult } from '../../../calls/index.ts';
import { checkAgent, checkRun, withAgent } from '../agents/agent-option.ts';
import type { ToolArguments } from '../agents/tool-arguments.ts';
import type { CliCalls } from '../calls/cli-calls.ts';
import { createHeldCallNote } from '../calls/held-call-note.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { LocatedTool } from '../hosting/control-operations.ts';
import { newRun } from '../hub/new-run.ts';
import { printable, printableLine } from '../terminal/printable.ts';

export function callCommand(cli: CliContext): Command {
  return withAgent(new Command('call'), 'the agent that calls')
    .description('call a tool as an agent, under its rules, and record the call')
    .addHelpText(
      'after',
      helpExamples(
        'qm call files.read_text_file path=README.md --agent tester',
        `qm call files.read_text_file --args '{"path":"README.md"}' --agent tester --json`,
      ),
    )
    .argument('<server.tool>', 'the tool, or its name for the agent')
    .argument('[k=v...]', "arguments; text unless the tool's schema says otherwise; k:=JSON for any value")
    .option('--args <json>', 'all arguments as one JSON object, sent unchanged; - reads stdin')
    .option('--run <id>', 'run to record the call under (default: a new one)')
    .option('--timeout <time>', 'maximum time to wait, such as 30s or 5m')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .action((tool: string, words: string[], options: CallCommandOptions, command: Command) =>
      call(cli, readInvocation(command, cli), tool, words, options),
    );
}

interface CallCommandOptions {
  readonly agent: string;
  readonly args?: string;
  readonly run?: string;
  readonly timeout?: string;
  readonly foreground?: boolean;
}

async function call(
  cli: CliContext,
  invocation: Invocation,
  tool: string,
  words: readonly string[],
  options: CallCommandOptions,
): Promise<void> {
  const agent = checkAgent(options.agent);
  const run = checkRun(options.run);
  const { parseTtl } = await import('../../../governance/index.ts');
  const timeoutMs = options.timeout === undefined ? undefined : parseTtl(options.timeout);
  const argumentsFor = await readArguments(cli, words, options.args);
  const [{ withHub }, { createCliCalls }, { settleTrust }] = await Promise.all([
    import('../hub/join-hub.ts'),
    import('../calls/cli-calls.ts'),
    import('../trust/settle-trust.ts'),
  ]);
  // Only about the server that the call needs, if its name tells.
  const [server] = tool.includes('.') ? tool.split('.', 1) : [];
  const servers = server === undefined ? undefined : [server];
  if (!invocation.json) await settleTrust(cli, invocation.workspace, { servers });
  const ownRun = run ?? newRun(cli, agent);
  await withHub(cli, invocation, options, (hub) =>
    callIn(cli, createCliCalls(hub, { agent, run: ownRun }), {
      tool,
      agent,
      run: ownRun,
      json: invocation.json,
      argumentsFor,
      timeoutMs,
      timeout: options.timeout,
    }),
  );
}

interface CallScope {
  readonly tool: string;
  readonly agent: string;
  readonly run: string;
  readonly json: boolean;
  readonly timeoutMs: number | undefined;
  readonly timeout: string | undefined;
  argumentsFor(located: LocatedTool | undefined): Promise<ToolArguments>;
}

async function callIn(cli: CliContext, hub: CliCalls, scope: CallScope): Promise<void> {
  const { tool, timeoutMs } = scope;
  const stop = cli.signals.graceful();
  cli.terminal.progress(`Looking for ${tool} …`);
  const located = await hub.locate(tool, stop);
  cli.terminal.progress('');
  const args = await scope.argumentsFor(located);
  const ended = new AbortController();
  const attended = await attend(cli, { tool, server: located?.server ?? '', quiet: scope.json }, ended.signal);
  const held = createHeldCallNote(cli, { ...scope, channel: attended.channel });
  const inFlight = await hub.begin(
    { name: located?.name ?? tool, args, attended: { ...attended, channel: held.channel } },
    stop,
  );
  const onStop = (): void => inFlight.cancel('interrupted at the terminal');
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  let timedOut = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : cli.clock.setTimer(timeoutMs, () => {
          timedOut = true;
          inFlight.cancel(`no answer within --timeout ${scope.timeout}`);
        });
  const outcome = await inFlight.result;
  timer?.cancel();
  ended.abort();
  cli.terminal.progress('');
  // A person's Ctrl-C exits with 130; the time that the caller set is an ordinary failure.
  if (timedOut && outcome.kind === 'failed' && outcome.error.code === 'CANCELLED') {
    throw new HubError(
      'UPSTREAM_TIMEOUT',
      `${tool} gave no answer within --timeout ${scope.timeout}. It may still run.`,
      {
        details: outcome.error.details,
      },
    );
  }
  await tellOutcome(cli, { hub, tool, located, json: scope.json }, held.explain(outcome));
}

/** Handles progress and server requests of the call. Server requests need a person at a terminal. */
async function attend(
  cli: CliContext,
  { tool, server, quiet }: { readonly tool: string; readonly server: string; readonly quiet: boolean },
  ended: AbortSignal,
): Promise<Pick<CallRequest, 'channel' | 'client'>> {
  const { terminal, stdin, random } = cli;
  if (!terminal.errIsTerminal) return { channel: undefined };
  if (quiet || stdin.isTTY !== true) return { channel: { progress: (params) => showProgress(cli, tool, params) } };
  const [{ createPerson, personCapabilities }, { clientCapabilitiesOf }] = await Promise.all([
    import('../terminal/ask-person.ts'),
    import('../../../mcp/index.ts'),
  ]);
  const person = createPerson(cli, { server, signal: ended });
  const session = createId(random, 26);
  return {
    client: {
      principal: session,
      session,
      clientCapabilities: clientCapabilitiesOf(personCapabilities),
      takesInputRequired: false,
    },
    channel: {
      progress: (params) => person.isAsked || showProgress(cli, tool, params),
      ask: (serverRequest) => {
        terminal.progress('');
        return person.ask(serverRequest);
      },
    },
  };
}

/** Parses the arguments as far as possible before a server starts; the tool's schema is known only afterwards. */
async function readArguments(
  cli: CliContext,
  words: readonly string[],
  json: string | undefined,
): Promise<CallScope['argumentsFor']> {
  const { argumentsFromJson, argumentsFromPairs, readPairs } = await import('../agents/tool-arguments.ts');
  if (json !== undefined) {
    if (words.length > 0) throw new HubError('USAGE', 'Give the arguments as k=v or as --args, not both.');
    const args = argumentsFromJson(json === '-' ? await readAll(cli) : json);
    return async () => args;
  }
  const pairs = readPairs(words);
  return async (located) => argumentsFromPairs(pairs, located?.inputSchema ?? {});
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
  const words = typeof message === 'string' ? printableLine(message) : '';
  terminal.progress([tool, share, words].filter((part) => part !== '').join(' '));
}

interface CallSubject {
  readonly hub: CliCalls;
  readonly tool: string;
  readonly located: LocatedTool | undefined;
  readonly json: boolean;
}

async function tellOutcome(cli: CliContext, subject: CallSubject, outcome: CallResult): Promise<void> {
  const { hub, tool, located, json } = subject;
  const { terminal } = cli;
  if (outcome.kind === 'failed' && outcome.error.code === 'TOOL_UNKNOWN') await hub.explainUnknown(tool);
  if (outcome.kind === 'failed' && outcome.error.code === 'UPSTREAM_UNAVAILABLE') {
    const { forOperator } = await import('../calls/unavailable-for-operator.ts');
    throw forOperator(outcome.error);
  }
  const { expectAnswer } = await import('../../library/index.ts');
  const { result } = expectAnswer(outcome, located);
  const isError = result.value.isError === true;
  if (isError) cli.exitWith(1);
  if (json) {
    terminal.out(result.text);
    return;
  }
  const { contentLines } = await import('../terminal/content-text.ts');
  for (const text of contentLines(result.value)) {
    if (terminal.outIsTerminal) terminal.out(printable(text));
    else terminal.raw(text);
  }
  if (isError) terminal.err(`${terminal.errColours.red('qm:')} The tool ${tool} reported an error.`);
}
