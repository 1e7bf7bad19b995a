import { Command } from 'commander';
import { HubError, toHubError } from '../../../base/index.ts';
import type { TokenOrderBody, TokenSummaryBody } from '../../api/index.ts';
import { withAgent } from '../agents/agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { TokenCommands } from '../hub/token-commands.ts';
import type { TokenRevoked } from '../json-shapes.ts';
import { nameHint } from '../name-hint.ts';
import { type FittingColumn, fitColumns, naturalWidths } from '../terminal/fit-columns.ts';
import { renderTable } from '../terminal/table.ts';

export function tokenCommand(cli: CliContext): Command {
  const token = new Command('token')
    .description('issue, list and revoke the tokens of agents')
    .addHelpText('after', helpExamples('qm token issue --agent tester --ttl 12h', 'qm token ls'))
    .helpCommand(false);
  token.addCommand(
    withAgent(new Command('issue'), 'the agent that uses the token')
      .description('issue a token; it is shown once and stored as a hash')
      .addHelpText(
        'after',
        helpExamples('qm token issue --agent tester', 'export QM_TOKEN=$(qm token issue --agent tester --ttl 12h)'),
      )
      .option('--ttl <time>', 'lifetime, such as 30d, 12h or 15m (default: 30d)')
      .option('--run <id>', 'run to record its calls under')
      .option(
        '--parent <token-id>',
        'delegate from this token: the new token has only the rights that both agents have',
      )
      .action((options: IssueOptions, command: Command) => issue(cli, readInvocation(command, cli), options)),
  );
  token.addCommand(
    new Command('ls')
      .description('list the tokens, without their text')
      .addHelpText('after', helpExamples('qm token ls', "qm token ls --json | jq -r '.[].id'"))
      .action((_options, command: Command) => list(cli, readInvocation(command, cli))),
  );
  token.addCommand(
    new Command('revoke')
      .description('revoke a token and every token delegated from it')
      .addHelpText('after', helpExamples('qm token revoke ra227pd68x', 'qm token revoke ra227pd68x --json'))
      .argument('<id>', 'as `qm token ls` shows it, or the token itself')
      .action((id: string, _options, command: Command) => revoke(cli, readInvocation(command, cli), id)),
  );
  return token;
}

interface IssueOptions {
  readonly agent: string;
  readonly ttl?: string;
  readonly run?: string;
  readonly parent?: string;
}

async function issue(cli: CliContext, { workspace, json }: Invocation, options: IssueOptions): Promise<void> {
  const { terminal } = cli;
  const [{ parseTtl }, { openTokenCommands }] = await Promise.all([
    import('../../../governance/index.ts'),
    import('../hub/token-commands.ts'),
  ]);
  const { agent, ttl, run, parent } = options;
  const order: TokenOrderBody = {
    agent,
    ...(ttl === undefined ? {} : { ttlMs: parseTtl(ttl) }),
    ...(run === undefined ? {} : { run }),
    ...(parent === undefined ? {} : { parent: tokenId(parent) }),
  };
  const commands = await openTokenCommands(cli, workspace);
  const issued = await suggestingId(commands, order.parent, () => commands.issue(order));
  await warnOfStranger(cli, workspace, agent);
  if (json) {
    terminal.out(JSON.stringify(issued));
    return;
  }
  const { dim } = terminal.errColours;
  terminal.err(dim(`Token ${issued.id} for agent ${agent}, until ${issued.expires}. It is not shown again:`));
  terminal.out(issued.token);
}

async function warnOfStranger(cli: CliContext, workspace: string, agent: string): Promise<void> {
  const { terminal } = cli;
  const [{ loadWorkspace }, { strangerNote }] = await Promise.all([
    import('../servers/load-workspace.ts'),
    import('../agents/agent-note.ts'),
  ]);
  const note = strangerNote(await loadWorkspace(cli, workspace), agent);
  if (note !== undefined) terminal.err(`${terminal.errColours.yellow('warning')} ${note}`);
}

async function list(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { terminal } = cli;
  const { openTokenCommands } = await import('../hub/token-commands.ts');
  const tokens = await (await openTokenCommands(cli, workspace)).list();
  if (json) {
    terminal.out(JSON.stringify(tokens));
    return;
  }
  if (tokens.length === 0) {
    terminal.err('There are no tokens. Issue one with `qm token issue --agent NAME`.');
    return;
  }
  for (const line of tokenTable(cli, tokens)) terminal.out(line);
}

function tokenTable({ terminal: { colours, width } }: CliContext, tokens: readonly TokenSummaryBody[]): string[] {
  const day = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
  const columns: readonly FittingColumn<TokenSummaryBody>[] = [
    { title: 'ID', text: ({ id }) => id, paint: colours.bold },
    { title: 'AGENT', text: ({ agent }) => agent },
    {
      title: 'STATE',
      text: ({ state }) => state,
      paint: (text, { state }) => (state === 'valid' ? colours.green(text) : colours.dim(text)),
    },
    { title: 'EXPIRES (UTC)', text: ({ expires }) => day(expires) },
    { title: 'CREATED (UTC)', text: ({ created }) => day(created), spare: 1 },
    { title: 'PARENT', text: ({ parent }) => parent ?? '-' },
    { title: 'RUN', text: ({ run }) => run ?? '-' },
  ];
  const fitted = fitColumns(columns, naturalWidths(columns, tokens), width);
  return renderTable(tokens, fitted, { colours, width });
}

/** Also takes the token itself, so that nobody has to cut the id out of it, and no error repeats it. */
function tokenId(text: string): string {
  return /^qm_([0-9a-z]+)_/.exec(text)?.[1] ?? text;
}

async function suggestingId<T>(commands: TokenCommands, id: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = toHubError(error);
    if (known.code !== 'TOKEN_UNKNOWN' || id === undefined) throw error;
    const valid = (await commands.list()).filter(({ state }) => state === 'valid').map((token) => token.id);
    const hint = nameHint(id, valid, { some: 'Valid tokens', none: 'There are no valid tokens.' });
    throw new HubError('TOKEN_UNKNOWN', known.message, { hint, cause: error });
  }
}

async function revoke(cli: CliContext, { workspace, json }: Invocation, given: string): Promise<void> {
  const { openTokenCommands } = await import('../hub/token-commands.ts');
  const commands = await openTokenCommands(cli, workspace);
  const id = tokenId(given);
  await suggestingId(commands, id, () => commands.revoke(id));
  const answer: TokenRevoked = { id, revoked: true };
  if (json) cli.terminal.out(JSON.stringify(answer));
  else cli.terminal.err(`Token ${id} is revoked, with every token delegated from it.`);
}
