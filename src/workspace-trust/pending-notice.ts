import type { Problem } from '../domain/index.ts';
import type { PendingItem } from '../trust/index.ts';

/** What waits for the operator's approval, as a notice of the configuration. */
export function pendingNotice(pending: PendingItem): Problem {
  const { item } = pending;
  if (item.kind === 'policy') {
    return {
      severity: 'warning',
      file: item.file,
      message: rulesMessage(pending),
      fix: 'Run `qm trust` to see the rules and approve them.',
    };
  }
  const { file, line } = item.spec.source;
  return {
    severity: 'warning',
    file,
    ...(line === undefined ? {} : { line }),
    server: item.name,
    message: pending.declined
      ? `Server "${item.name}" was declined, so it is not started.`
      : serverMessage(item.name, pending),
    fix: pending.declined
      ? `\`qm trust ${item.name}\` approves it after all.`
      : 'Run `qm trust` to see what it would start, and approve it.',
  };
}

function rulesMessage({ change, deniesAll }: PendingItem): string {
  if (deniesAll === true)
    return 'The rules wait for approval. No approved rules are known, so until then agents may use nothing.';
  return change === 'new'
    ? 'The rules are not approved yet. Until then they can only restrict; settings that grant access have no effect.'
    : 'The rules changed and wait for approval. Until then agents have only what both versions allow.';
}

function serverMessage(name: string, { item, before }: PendingItem): string {
  if (before?.kind !== 'server' || item.kind !== 'server')
    return `Server "${name}" is not trusted yet, so it is not started.`;
  if (!before.spec.enabled)
    return `Server "${name}" stays disabled, as it was approved. Its change waits for approval.`;
  if (!item.spec.enabled)
    return `Server "${name}" is disabled. Until you approve that, its approved version comes back when the file is changed back.`;
  return `Server "${name}" runs as it was approved. Its change waits for approval.`;
}
