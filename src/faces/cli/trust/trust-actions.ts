import { HubError } from '../../../base/index.ts';
import { type TrustItem, trustDigest } from '../../../trust/index.ts';
import type { TrustChanges } from '../../../workspace-trust/index.ts';
import type { TrustArguments } from '../commands/trust-command.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { nextCommand } from '../next-command.ts';
import { unknownServer } from '../servers/unknown-server.ts';
import { showCoveredRules } from './covered-rules.ts';
import { pendingLines, pendingTitle } from './pending-lines.ts';
import { settleByAsking } from './settle-trust.ts';
import { showTrust } from './show-trust.ts';
import { tellHubOfTrust } from './tell-hub.ts';
import { canAsk } from './trust-prompt.ts';
import { withholdInHub } from './withhold-in-hub.ts';
import { openChanges, readWorkspaceTrust, type WorkspaceTrust } from './workspace-trust.ts';

/** One run of `qm trust`. */
interface TrustRun {
  readonly cli: CliContext;
  readonly invocation: Invocation;
  readonly trust: WorkspaceTrust;
  readonly changes: TrustChanges;
  readonly items: readonly TrustItem[];
}

export async function runTrust(
  cli: CliContext,
  invocation: Invocation,
  servers: readonly string[],
  options: TrustArguments,
): Promise<void> {
  const { workspace } = invocation;
  const trust = await readWorkspaceTrust(cli, workspace);
  const { createRedaction } = await import('../../../hub/index.ts');
  cli.mask.use(createRedaction(trust.loaded.configuration));
  const changes = await openChanges(cli, workspace);
  const run: TrustRun = { cli, invocation, trust, changes, items: changes.itemsOf(trust.loaded) };
  refuseUnclear(servers, options);
  let seen = false;
  if (options.show !== true) {
    if (options.revoke === true) await revoke(run, servers, options);
    else if (options.decline === true) await changes.decline(trust.loaded, namedItems(run, servers), 'command');
    else seen = await approveChosen(run, servers, options);
    await tellHubOfTrust(cli, workspace);
  }
  const approved = await showTrust(cli, invocation, run.items, seen);
  if (!invocation.json) sayNext(run, approved);
}

/** After a server was approved, the next question is whether it works. */
function sayNext({ cli, invocation, trust, items }: TrustRun, approved: ReadonlySet<string>): void {
  const isNew = items.some(({ kind, hash }) => kind === 'server' && approved.has(hash) && !trust.approved.has(hash));
  if (!isNew) return;
  const { terminal } = cli;
  terminal.errWhole(`Next: ${terminal.errColours.bold(nextCommand(cli, invocation.workspace, 'doctor'))}`);
}

/** Returns whether a person has just seen everything that waits. */
async function approveChosen(run: TrustRun, servers: readonly string[], options: TrustArguments): Promise<boolean> {
  const { cli, trust, changes } = run;
  const chosen = await chosenItems(run, servers, options);
  if (chosen === undefined) return await ask(run);
  if (chosen.length === 0) return false;
  showCoveredRules(cli, trust.pending, chosen);
  await changes.approve(trust.loaded, chosen, options.digest === undefined ? 'command' : 'digest');
  return false;
}

async function revoke(run: TrustRun, servers: readonly string[], options: TrustArguments): Promise<void> {
  const { changes, trust } = run;
  const { rules = false, earlier = false } = options;
  const known = new Set([...serverNames(run), ...(await changes.approvedServers())]);
  const unknown = servers.find((name) => !known.has(name));
  if (unknown !== undefined) throw unknownServer(unknown, known);
  if (earlier || rules) {
    const isNamed = servers.length > 0 || rules;
    await changes.revokeEarlier({ servers: isNamed ? servers : undefined, rules: rules || !isNamed });
    return;
  }
  const named = servers.length === 0 ? undefined : servers;
  await changes.revoke(named).catch((error: unknown) => withholdInHub(run.cli, run.invocation.workspace, named, error));
  const configured = serverNames(run).filter((name) => servers.length === 0 || servers.includes(name));
  await changes.decline(trust.loaded, namedItems(run, configured), 'command');
}

function refuseUnclear(
  servers: readonly string[],
  { show, all, rules, decline, revoke: takesBack, earlier, digest }: TrustArguments,
): void {
  const modes = [show, all, decline, takesBack, digest].filter((mode) => mode !== undefined && mode !== false);
  if (modes.length > 1)
    throw new HubError('USAGE', 'Only one of --show, --all, --decline, --revoke and --digest can be given.');
  if (earlier === true && takesBack !== true) throw new HubError('USAGE', '--earlier goes with --revoke.');
  if (decline === true && servers.length === 0) throw new HubError('USAGE', 'Name the servers to decline.');
  const names = servers.length > 0 || rules === true;
  if (names && (all === true || digest !== undefined || show === true)) {
    throw new HubError(
      'USAGE',
      'Servers and --rules do not go with --show, --all or --digest, which cover everything.',
    );
  }
}

/** Undefined: nothing was named, so a person is asked. */
async function chosenItems(
  run: TrustRun,
  servers: readonly string[],
  options: TrustArguments,
): Promise<readonly TrustItem[] | undefined> {
  const { all, rules, digest } = options;
  if (digest !== undefined) {
    const actual = await trustDigest(run.items);
    if (digest === actual) return run.items;
    throw new HubError('NOT_TRUSTED', `What is on disk has the digest ${actual}, not ${digest.slice(0, 80)}.`, {
      hint: 'Review it with `qm trust --show`, and pin the new digest if it is as you expect.',
    });
  }
  if (all === true) return run.items;
  if (servers.length === 0 && rules !== true) return undefined;
  return [...namedItems(run, servers), ...(rules === true ? run.items.filter(({ kind }) => kind === 'policy') : [])];
}

function serverNames({ items }: TrustRun): readonly string[] {
  return items.flatMap((item) => (item.kind === 'server' ? [item.name] : []));
}

function namedItems(run: TrustRun, servers: readonly string[]): readonly TrustItem[] {
  return servers.map((name) => {
    const item = run.items.find((each) => each.kind === 'server' && each.name === name);
    if (item !== undefined) return item;
    const { configuration } = run.trust.loaded;
    const known = configuration.servers.get(name);
    if (known?.kind === 'invalid') {
      throw new HubError('SERVER_INVALID', `Server "${name}" is invalid, so there is nothing to approve.`, {
        hint: `\`qm doctor ${name}\` explains how to fix it.`,
      });
    }
    throw unknownServer(name, configuration.servers.keys());
  });
}

/** Returns whether a person has just seen everything that waits. */
async function ask({ cli, invocation, trust }: TrustRun): Promise<boolean> {
  if (trust.pending.length === 0) return false;
  if (canAsk(cli) && !invocation.json) {
    await settleByAsking(cli, invocation.workspace, trust, trust.pending);
    return true;
  }
  const { terminal } = cli;
  if (!invocation.json) for (const line of pendingLines(cli, trust.pending)) terminal.err(line);
  throw new HubError('NOT_TRUSTED', pendingTitle(trust.pending), {
    hint: `There is no terminal to ask. ${whatToName(trust.pending)}, or give the digest that you reviewed (\`--digest\`).`,
  });
}

function whatToName(pending: WorkspaceTrust['pending']): string {
  const kinds = new Set(pending.map(({ item }) => item.kind));
  if (!kinds.has('server')) return 'Approve the rules (`qm trust --rules`)';
  return kinds.has('policy')
    ? 'Name the servers (`qm trust NAME`) and the rules (`qm trust --rules`)'
    : 'Name the servers (`qm trust NAME`)';
}
