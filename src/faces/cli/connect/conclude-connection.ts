import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import type { StartedServer } from '../hub/start-once.ts';
import { nextCommand } from '../next-command.ts';
import { printableLine } from '../terminal/printable.ts';
import { canAsk } from '../trust/trust-prompt.ts';
import { shownPath } from './client-context.ts';
import type { ConnectAnswer } from './connect-shapes.ts';
import type { FirstCall } from './first-call.ts';
import type { ConnectionPlan } from './plan-connection.ts';
import { switchedEntries } from './plan-switch.ts';
import type { WrittenFile } from './write-files.ts';

/** What was written, and what the person does next. */
export function sayConnected(cli: CliContext, plan: ConnectionPlan, written: readonly WrittenFile[]): void {
  const { terminal } = cli;
  const { client, at, draft, agent } = plan.order;
  if (written.length === 0) terminal.out(`${client.title} is connected as ${agent} already. Nothing was written.`);
  else
    terminal.out(`${client.title} is connected as ${agent}, by "${plan.entry}" in ${shownPath(at, plan.place.path)}.`);
  for (const { path, backup } of written) {
    if (backup !== null) terminal.err(`Backup of ${shownPath(at, path)}: ${shownPath(at, backup)}`);
  }
  if (draft.kind === 'http') {
    const command = nextCommand(cli, at.workspace, `token issue --agent ${agent}`);
    terminal.err(`${client.title} needs its token in ${draft.tokenVariable}; put this where it starts from:`);
    terminal.err(`  export ${draft.tokenVariable}=$(${command})`);
    terminal.err('The hub has to run: `qm serve`.');
  } else for (const line of startNotes(cli, plan)) terminal.err(line);
  terminal.err(client.restart);
}

/** What a hub that the client starts may lack. */
function startNotes(cli: CliContext, { order }: ConnectionPlan): readonly string[] {
  const { client, served, at } = order;
  const names = served.variables.slice(0, 20).join(' ');
  const store = nextCommand(cli, at.workspace, `secret set --from-env ${names}`);
  return [
    ...(names === ''
      ? []
      : [
          `A hub that ${client.title} starts may not have ${names.replaceAll(' ', ', ')} of your environment: \`${store}\``,
        ]),
    ...(cli.self.at(-1)?.includes('/_npx/') === true
      ? ['This qm runs from the cache of npx, which npm may empty: install it, then connect again.']
      : []),
  ];
}

export interface Concluded {
  readonly plan: ConnectionPlan;
  readonly written: readonly WrittenFile[];
}

/** Starts new servers, waits for the client, and gives the answer. */
export async function settleConnection(
  cli: CliContext,
  invocation: Invocation,
  { plan, written }: Concluded,
  { start, wait }: { readonly start: boolean; readonly wait?: boolean },
): Promise<void> {
  const { terminal } = cli;
  const { json, workspace } = invocation;
  const { client, agent } = plan.order;
  const started = start ? await startAll(cli, invocation) : [];
  const waits = wait ?? (canAsk(cli) && !json);
  let first: FirstCall | undefined;
  if (waits) {
    const { awaitFirstCall } = await import('./first-call.ts');
    if (!json) terminal.err(`Waiting for the first call of ${client.title} … (Ctrl-C ends the wait)`);
    first = await awaitFirstCall(cli, workspace, agent);
  }
  if (json) terminal.out(JSON.stringify(answerOf(plan, written, started, first)));
  else if (first !== undefined) sayFirstCall(cli, client.title, first);
}

async function startAll(cli: CliContext, invocation: Invocation): Promise<readonly StartedServer[]> {
  const { terminal } = cli;
  const { startNewServers } = await import('../hub/start-once.ts');
  try {
    const started = await startNewServers(cli, invocation);
    for (const { server, tools, why } of invocation.json ? [] : started) {
      if (tools === undefined) terminal.err(`${terminal.errColours.yellow('warning')} ${printableLine(why)}`);
      else terminal.err(`Server ${server} answers: ${tools === 1 ? '1 tool' : `${tools} tools`}.`);
    }
    return started;
  } catch (error) {
    // The connection is written; `qm doctor` finds out more.
    if (!(error instanceof HubError)) throw error;
    terminal.err(`${terminal.errColours.yellow('warning')} No server was started. ${printableLine(error.message)}`);
    return [];
  }
}

function sayFirstCall({ terminal, clock }: CliContext, title: string, first: FirstCall): void {
  if (first.kind === 'call') {
    const { call } = first;
    const seconds = Math.max(0, Math.round((clock.now() - Date.parse(call.ts)) / 1000));
    const tool = call.server === null ? call.tool : `${call.server}.${call.tool}`;
    terminal.err(`${title} called ${printableLine(tool)} ${seconds} s ago.`);
  } else if (first.kind === 'interrupted') {
    terminal.err(`Stopped waiting. ${title} is connected; \`qm calls --follow\` shows its calls.`);
  } else {
    terminal.err(`No call within ten minutes. ${title} is connected; \`qm calls --follow\` shows its calls.`);
  }
}

function answerOf(
  { order, entry, place, switches }: ConnectionPlan,
  written: readonly WrittenFile[],
  started: readonly StartedServer[],
  first: FirstCall | undefined,
): ConnectAnswer {
  const { client, agent, draft } = order;
  return {
    client: client.name,
    agent,
    entry,
    file: place.path,
    scope: place.scope,
    transport: draft.kind,
    tokenVariable: draft.kind === 'http' ? draft.tokenVariable : null,
    files: written.map(({ path, change, backup }) => ({ path, change, backup })),
    switchedOff: [...switchedEntries(switches)],
    left: switches.flatMap((each) => {
      if (each.kind !== 'left') return [];
      const { entry: found, file, server } = each.direct;
      return [{ server, key: found.key, file: file.path, why: each.why }];
    }),
    started: started.map(({ server, tools }) => ({ server, tools: tools ?? null })),
    firstCall: first?.kind === 'call' ? { server: first.call.server, tool: first.call.tool, at: first.call.ts } : null,
  };
}
