import { HubError } from '../../../base/index.ts';
import type { LoadedConfiguration, SourceText } from '../../../config/index.ts';
import { identityOf, type TrustItem } from '../../../trust/index.ts';
import type { CliContext } from '../context.ts';
import { showCoveredRules } from './covered-rules.ts';
import { loadTexts, openChanges, readWorkspaceTrust, type WorkspaceTrust } from './workspace-trust.ts';

/** Approves what a command of the operator wrote, item by item, and nothing that was waiting before it. */
export interface WrittenApproval {
  /** Throws unless the command edits the text that was judged: another one may hold what nobody approved. */
  refuseOther(file: string, text: string | undefined): void;
  /**
   * `texts` are the files that the command wrote, undefined those that it removed; `servers` those that it meant. Returns
   * those that it may not approve, because they were not approved before.
   */
  approve(texts: ReadonlyMap<string, string | undefined>, servers: readonly string[]): Promise<readonly string[]>;
  /** The same for a command that removed a server. Another server is never approved. */
  approveRemoval(texts: ReadonlyMap<string, string | undefined>): Promise<void>;
}

/** Call it before the command reads what it edits. */
export async function beforeWriting(cli: CliContext, workspace: string): Promise<WrittenApproval> {
  const trust = await readWorkspaceTrust(cli, workspace);
  const { loaded, asks } = trust;
  return {
    refuseOther(file, text) {
      if (asks && withoutMark(text) !== withoutMark(textOf(loaded, file))) throw changedMeanwhile(file);
    },
    async approve(texts, servers) {
      if (!asks) return [];
      const changes = await openChanges(cli, workspace);
      // Another program may change files at the same time, so what is approved is not read from disk again.
      const after = await loadTexts(cli, workspace, withTexts(loaded, texts));
      const before = changes.itemsOf(loaded);
      const known = new Set(before.map(({ hash }) => hash));
      const written = changes.itemsOf(after).filter((item) => {
        return !known.has(item.hash) && (item.kind === 'policy' || servers.includes(item.name));
      });
      const mayApprove = approvable(trust, before);
      const approved = written.filter(mayApprove);
      if (approved.length > 0) {
        showCoveredRules(cli, trust.pending, approved);
        await changes.approve(after, approved, 'command');
      }
      // Whoever disables a server means every version of it.
      const stopped = written.flatMap((item) =>
        item.kind === 'server' && !item.spec.enabled && !mayApprove(item) ? [item.name] : [],
      );
      if (stopped.length > 0) await changes.withdraw(stopped);
      return approved.length === written.length ? [] : await stillWaiting(cli, workspace, servers);
    },
    async approveRemoval(texts) {
      if (!asks) return;
      const changes = await openChanges(cli, workspace);
      // Where nothing was approved, nothing could be brought back.
      if (trust.approved.size === 0 && (await changes.approvedServers()).length === 0) return;
      const after = await loadTexts(cli, workspace, withTexts(loaded, texts));
      const mayApprove = approvable(trust, changes.itemsOf(loaded));
      const rules = changes.itemsOf(after).filter((item) => item.kind === 'policy' && mayApprove(item));
      // Even if the rules are as before: from now on these are the texts that stay in force.
      await changes.approveRemoval(after, rules);
    },
  };
}

/** What the command wrote may be a version that was approved earlier. */
async function stillWaiting(
  cli: CliContext,
  workspace: string,
  servers: readonly string[],
): Promise<readonly string[]> {
  const { pending } = await readWorkspaceTrust(cli, workspace);
  return pending.flatMap(({ item }) => (item.kind === 'server' && servers.includes(item.name) ? [item.name] : []));
}

/**
 * A new server is the command's own. Of one that was there, the command wrote a part, and somebody else may have changed
 * the rest since it was approved: also while it was disabled, when it does not wait for anything.
 */
function approvable({ approved, pending }: WorkspaceTrust, before: readonly TrustItem[]): (item: TrustItem) => boolean {
  const waited = new Set(pending.map(({ item }) => identityOf(item)));
  const old = new Map(before.map((item) => [identityOf(item), item]));
  return (item) => {
    const was = old.get(identityOf(item));
    if (waited.has(identityOf(item))) return false;
    return item.kind === 'policy' || was === undefined || approved.has(was.hash);
  };
}

function textOf({ sources }: LoadedConfiguration, file: string): string | undefined {
  const source = sources.get(file)?.source;
  return source?.kind === 'text' ? source.text : undefined;
}

function withoutMark(text: string | undefined): string | undefined {
  return text?.replace(/^\ufeff/, '');
}

function changedMeanwhile(file: string): HubError {
  return new HubError(
    'STATE_LOCKED',
    `${file} was changed by somebody else in this very moment; nothing was written.`,
    {
      hint: 'Look at it, then try again.',
    },
  );
}

function withTexts(
  { sources }: LoadedConfiguration,
  texts: ReadonlyMap<string, string | undefined>,
): ReadonlyMap<string, SourceText> {
  const all = new Map([...sources].map(([file, { source }]) => [file, source]));
  for (const [file, text] of texts) all.set(file, text === undefined ? { kind: 'absent' } : { kind: 'text', text });
  return all;
}
