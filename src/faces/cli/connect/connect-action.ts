import { HubError } from '../../../base/index.ts';
import type { Client, ClientConnection, ClientContext, ClientScope } from '../../../clients/index.ts';
import { agentNames } from '../agents/agent-names.ts';
import { checkAgent } from '../agents/agent-option.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { confirm } from '../terminal/confirm.ts';
import { canAsk } from '../trust/trust-prompt.ts';
import { readWorkspaceTrust } from '../trust/workspace-trust.ts';
import { applyConnection } from './apply-connection.ts';
import { readClientContext, shownPath } from './client-context.ts';
import { pickClient } from './client-list.ts';
import { sayConnected, settleConnection } from './conclude-connection.ts';
import { openConnections } from './connection-store.ts';
import { checkTokenVariable, entryForHub } from './entry-for-hub.ts';
import { type ConnectionPlan, type ConnectOrder, isChanged, planConnection } from './plan-connection.ts';
import { fileLines, type SharedParts, switchLines } from './preview-lines.ts';
import { readServed } from './served-servers.ts';
import { maskSecrets } from './text-secrets.ts';

export interface ConnectOptions {
  readonly agent?: string;
  readonly scope?: ClientScope;
  readonly http?: boolean;
  readonly tokenVariable: string;
  readonly keepDirect?: boolean;
  readonly yes?: boolean;
  readonly trust?: boolean;
  /** False: start no server to list its tools. */
  readonly start: boolean;
  /** Undefined: wait where a person sees it. */
  readonly wait?: boolean;
}

/** `qm connect CLIENT` */
export async function connectClient(
  cli: CliContext,
  invocation: Invocation,
  word: string,
  options: ConnectOptions,
): Promise<void> {
  const client = pickClient(word);
  const at = await readClientContext(cli, invocation.workspace);
  const order = await readOrder(cli, invocation, { client, at }, options);
  const whole = await planConnection(cli, order);
  await maskSecrets(cli, order, whole.files);
  if (!invocation.json) await show(cli, whole);
  if (options.yes !== true) refuseUnasked(cli, invocation);
  const plan = options.yes === true ? whole : await agreed(cli, whole);
  if (plan === undefined) {
    cli.terminal.err('Nothing was written.');
    return;
  }
  const written = plan.files.some(isChanged) ? await applyConnection(cli, plan) : [];
  if (!invocation.json) sayConnected(cli, plan, written);
  await settleConnection(cli, invocation, { plan, written }, options);
}

async function readOrder(
  cli: CliContext,
  invocation: Invocation,
  { client, at }: { readonly client: Client; readonly at: ClientContext },
  options: ConnectOptions,
): Promise<ConnectOrder> {
  if (options.agent === undefined) {
    const { loaded } = await readWorkspaceTrust(cli, invocation.workspace);
    throw new HubError('USAGE', `As which agent should ${client.title} use the hub?`, {
      hint: agentHint(agentNames(loaded.configuration)),
    });
  }
  const agent = checkAgent(options.agent);
  const tokenVariable = checkTokenVariable(options.tokenVariable);
  const served = await readServed(cli, invocation, { agent, title: client.title, trust: options.trust });
  const draft = await entryForHub(cli, { workspace: at.workspace, agent, http: options.http === true, tokenVariable });
  const earlier = await findConnection(cli, at, client);
  const { scope, keepDirect = false } = options;
  return { client, at, agent, draft, scope, keepDirect, earlier, served };
}

function agentHint(names: readonly string[]): string {
  if (names.length === 0) return 'Add --agent NAME. No agent is configured, so any name works.';
  return `Add --agent NAME. Configured agents: ${names.slice(0, 20).join(', ')}.`;
}

export async function findConnection(
  cli: CliContext,
  { workspace }: ClientContext,
  { name }: Client,
): Promise<ClientConnection | undefined> {
  const all = await (await openConnections(cli, workspace)).list();
  return all.find(({ client }) => client === name);
}

async function show(cli: CliContext, { order, notes, files, switches, place }: ConnectionPlan): Promise<void> {
  const { client, at, agent } = order;
  const { terminal } = cli;
  const { bold, dim } = terminal.errColours;
  terminal.err(`${bold(client.title)} gets the tools of agent ${bold(agent)} from the hub of ${at.workspace}.`);
  for (const note of notes) terminal.err(dim(note));
  if (place.scope === 'user') terminal.err(dim(`${shownPath(at, place.path)} applies to all your projects.`));
  const shared = sharedParts(order, switches);
  for (const line of await fileLines(cli, at, files.filter(isChanged), shared)) terminal.errWhole(line);
  for (const line of switchLines(cli, at, client.title, switches)) terminal.err(line);
  terminal.err('');
}

function sharedParts({ at, draft }: ConnectOrder, switches: ConnectionPlan['switches']): SharedParts {
  const gone = switches.flatMap((each) => (each.kind === 'off' && each.how !== 'setting' ? [each.file] : []));
  const programs = draft.kind === 'stdio' ? [draft.command] : [];
  const ownPaths = [at.home, at.workspace, ...programs].filter((path) => path.length > 1 && path.startsWith('/'));
  return { ownPaths, losing: new Set(gone) };
}

/** Without a terminal nobody can answer, so that the option has to. */
export function refuseUnasked(cli: CliContext, { json }: Invocation): void {
  if (canAsk(cli) && !json) return;
  throw new HubError('USAGE', 'Nothing was written: there is no terminal to ask.', { hint: 'Add --yes to agree.' });
}

/** Asks about the client's own entries first: whoever keeps them gets a plan without that. Undefined: write nothing. */
async function agreed(cli: CliContext, plan: ConnectionPlan): Promise<ConnectionPlan | undefined> {
  const { order } = plan;
  const { title } = order.client;
  const usual = { option: '--yes', usual: 'yes' } as const;
  let result = plan;
  if (plan.switches.some(({ kind }) => kind === 'off')) {
    const question = `Have ${title} use these servers only through the hub?`;
    if (!(await confirm(cli, question, usual))) {
      result = await planConnection(cli, { ...order, keepDirect: true });
      await show(cli, result);
    }
  }
  return !result.files.some(isChanged) || (await confirm(cli, 'Write this?', usual)) ? result : undefined;
}
