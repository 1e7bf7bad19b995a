import { changedLines, type PendingItem, type TrustItem, trustDigest } from '../../../trust/index.ts';
import { branchName, readBranch } from '../../../workspace-trust/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { plural } from '../terminal/plural.ts';
import { itemPlace, runsWorkspaceCode } from './item-facts.ts';
import { pendingLines } from './pending-lines.ts';
import { replacedNote } from './settle-trust.ts';
import type { TrustShown } from './trust-shapes.ts';
import { readWorkspaceTrust, type WorkspaceTrust } from './workspace-trust.ts';

type ShownItem = TrustShown['items'][number];

/** What is on disk, and what of it is approved. `seen`: a person has just seen what waits. Returns what is approved now, by hash. */
export async function showTrust(
  cli: CliContext,
  { workspace, json }: Invocation,
  items: readonly TrustItem[],
  seen: boolean,
): Promise<ReadonlySet<string>> {
  const { terminal, mask } = cli;
  const trust = await readWorkspaceTrust(cli, workspace);
  const digest = await trustDigest(items);
  const branch = branchName(await readBranch(workspace));
  const waiting = new Map(trust.pending.map((each) => [each.item.hash, each]));
  const rows = items.map((item) => shownItem(item, waiting.get(item.hash), trust));
  if (json) {
    const shown: TrustShown = { digest, asks: trust.asks, branch: branch ?? null, items: rows };
    terminal.out(mask.json(JSON.stringify(shown)));
    return trust.approved;
  }
  const { green, yellow, red, dim } = terminal.colours;
  const colour = { approved: green, waiting: yellow, declined: red };
  for (const { kind, name, state, change, source } of rows) {
    // Rules that say nothing.
    if (kind === 'policy' && state === 'waiting' && change === null) continue;
    terminal.out(
      `${colour[state](state.padEnd(9))} ${name ?? 'the rules'}${source === null ? '' : `  ${dim(source)}`}`,
    );
  }
  for (const line of noteLines(cli, trust, { rows, digest, seen })) terminal.err(line);
  if (branch !== undefined) terminal.err(dim(`Branch: ${branch}`));
  terminal.err(dim(`Digest: ${digest}`));
  return trust.approved;
}

function noteLines(
  cli: CliContext,
  trust: WorkspaceTrust,
  { rows, digest, seen }: { readonly rows: readonly ShownItem[]; readonly digest: string; readonly seen: boolean },
): readonly string[] {
  const { pending, asks, configuration, replaced, removed } = trust;
  const { QM_TRUST: pinned } = cli.env;
  const invalid = [...configuration.servers.values()].filter(({ kind }) => kind === 'invalid').length;
  const isAll = rows.every(({ state }) => state === 'approved');
  return [
    ...(pinned !== undefined && pinned !== '' && pinned !== digest
      ? ['QM_TRUST has another digest, so nothing starts. While it is set, no other approval counts.']
      : []),
    ...(replaced ? [replacedNote] : []),
    ...(!asks ? ['This workspace is in a folder of trust.paths: everything in it is trusted.'] : []),
    ...(asks && pending.length === 0
      ? [
          isAll
            ? `Everything in this workspace is approved: ${plural(rows.length - 1, 'server')} and the rules.`
            : 'Nothing in this workspace is waiting for your approval.',
        ]
      : []),
    ...(asks && !seen ? pendingLines(cli, pending) : []),
    ...(removed.length === 0
      ? []
      : [
          `Approved, but not configured any more: ${removed.join(', ')}. \`qm trust --revoke NAME\` takes that back; \`qm trust --all\` approves the removal.`,
        ]),
    ...(invalid === 0
      ? []
      : [`${plural(invalid, 'server')} cannot be approved before it is valid; \`qm doctor\` explains.`]),
  ];
}

function shownItem(
  item: TrustItem,
  waits: PendingItem | undefined,
  { approved, asks }: Pick<WorkspaceTrust, 'approved' | 'asks'>,
): ShownItem {
  const isApproved = waits === undefined && (!asks || approved.has(item.hash));
  const state = isApproved ? 'approved' : waits?.declined === true ? 'declined' : 'waiting';
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
