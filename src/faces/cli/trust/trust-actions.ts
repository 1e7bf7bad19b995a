import { HubError } from '../../../base/index.ts';
import { changedLines, type PendingItem, type TrustItem, trustDigest } from '../../../trust/index.ts';
import type { TrustArguments } from '../commands/trust-command.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { unknownServer } from '../servers/unknown-server.ts';
import { plural } from '../terminal/plural.ts';
import { itemPlace, runsWorkspaceCode } from './item-facts.ts';
import { pendingLines, pendingTitle } from './pending-lines.ts';
import { replacedNote, settleByAsking } from './settle-trust.ts';
import { tellHubOfTrust } from './tell-hub.ts';
import { canAsk } from './trust-prompt.ts';
import type { TrustShown } from './trust-shapes.ts';
import { openChanges, readWorkspaceTrust, type WorkspaceTrust } from './workspace-trust.ts';

/** One run of `qm trust`. */
interface TrustRun {
  readonly cli: CliContext;
  readonly invocation: Invocation;
  readonly trust: WorkspaceTrust;
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
  const run: TrustRun = { cli, invocation, trust, items: changes.itemsOf(trust.loaded) };
  refuseUnclear(servers, options);
  let seen = false;
  if (options.show !== true) {
    if (options.revoke === true && options.rules === true) await changes.revokeEarlierRules();
    else if (options.revoke === true) {
      await changes.revoke(servers.length === 0 ? undefined : servers);
      await changes.decline(
        trust.loaded,
        namedItems(run, servers.length === 0 ? serverNames(run) : servers),
        'command',
      );
    } else if (options.decline === true) await changes.decline(trust.loaded, namedItems(run, servers), 'command');
    else {
      const chosen = await chosenItems(run, servers, options);
      if (chosen === undefined) seen = await ask(run);
      else if (chosen.length > 0)
        await changes.approve(trust.loaded, chosen, options.digest === undefined ? 'command' : 'digest');
    }
    await tellHubOfTrust(cli, workspace);
  }
  await show(run, seen);
}

function refuseUnclear(
  servers: readonly string[],
  { show, all, rules, decline, revoke, digest }: TrustArguments,
): void {
  const modes = [show, all, decline, revoke, digest].filter((mode) => mode !== undefined && mode !== false);
  if (modes.length > 1)
    throw new HubError('USAGE', 'Only one of --show, --all, --decline, --revoke and --digest can be given.');
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
      hint: 'Look at it with `qm trust --show`, and pin the new digest if it is as you expect.',
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
    hint: 'There is no terminal to ask. Name the servers (`qm trust NAME`), or give the digest that you reviewed (`--digest`).',
  });
}

async function show({ cli, invocation, items }: TrustRun, seen: boolean): Promise<void> {
  const { terminal, mask } = cli;
  const { pending, asks, configuration, replaced } = await readWorkspaceTrust(cli, invocation.workspace);
  const waiting = new Map(pending.map((each) => [each.item.hash, each]));
  const digest = await trustDigest(items);
  if (invocation.json) {
    const shown: TrustShown = { digest, asks, items: items.map((item) => shownItem(item, waiting.get(item.hash))) };
    terminal.out(mask.json(JSON.stringify(shown)));
    return;
  }
  const { green, yellow, red, dim } = terminal.colours;
  const colour = { approved: green, waiting: yellow, declined: red };
  for (const item of items) {
    const { state, source } = shownItem(item, waiting.get(item.hash));
    const name = item.kind === 'server' ? item.name : 'the rules';
    terminal.out(`${colour[state](state.padEnd(9))} ${name}${source === null ? '' : `  ${dim(source)}`}`);
  }
  const { QM_TRUST: pinned } = cli.env;
  if (pinned !== undefined && pinned !== '' && pinned !== digest)
    terminal.err('QM_TRUST has another digest, so nothing starts. While it is set, no other approval counts.');
  if (replaced) terminal.err(replacedNote);
  if (!asks) terminal.err('This workspace is in a folder of trust.paths: everything in it is trusted.');
  else if (pending.length === 0)
    terminal.err(`Everything in this workspace is approved: ${plural(items.length - 1, 'server')} and the rules.`);
  else if (!seen) for (const line of pendingLines(cli, pending)) terminal.err(line);
  const invalid = [...configuration.servers.values()].filter(({ kind }) => kind === 'invalid').length;
  if (invalid > 0)
    terminal.err(`${plural(invalid, 'server')} cannot be approved before it is valid; \`qm doctor\` explains.`);
  terminal.err(dim(`Digest: ${digest}`));
}

function shownItem(item: TrustItem, waits: PendingItem | undefined): TrustShown['items'][number] {
  const state = waits === undefined ? 'approved' : waits.declined ? 'declined' : 'waiting';
  const changes = waits?.before === undefined ? [] : [...changedLines(waits.before, item)];
  const common = { state, change: waits?.change ?? null, changes } as const;
  if (item.kind === 'policy') {
    const nothing = { transports: [], values: [], files: [], reaches: [], runsWorkspaceCode: false };
    return { kind: 'policy', name: null, source: null, ...common, ...nothing };
  }
  const { transports, values, files, reaches } = item.plan;
  return {
    kind: 'server',
    name: item.name,
    source: itemPlace(item),
    ...common,
    transports: transports.map(({ type, texts }) => ({ type, texts: texts.map(([field, text]) => [field, text]) })),
    values: [...values.keys()].sort(),
    files: files.map((file) => ({
      path: file.path,
      kind: file.kind,
      sha256: file.kind === 'file' ? file.sha256 : null,
      target: file.kind === 'link' ? file.target : null,
    })),
    reaches: [...reaches],
    runsWorkspaceCode: runsWorkspaceCode(item.plan),
  };
}
