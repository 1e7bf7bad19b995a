import type { Problem } from '../domain/index.ts';
import type { PendingItem } from '../trust/index.ts';

/** What waits for the operator's approval, as a notice of the configuration. */
export function pendingNotice({ item, change, declined }: PendingItem): Problem {
  if (item.kind === 'policy') {
    return {
      severity: 'warning',
      file: '.',
      message: 'The rules changed and wait for approval. Until then agents have only what both versions allow.',
      fix: 'Run `qm trust` to see the change and approve it.',
    };
  }
  const { name, spec } = item;
  const { file, line } = spec.source;
  const message =
    change === 'changed'
      ? `Server "${name}" runs as it was approved. Its change waits for approval.`
      : `Server "${name}" is not trusted yet, so it is not started.`;
  return {
    severity: 'warning',
    file,
    ...(line === undefined ? {} : { line }),
    server: name,
    message: declined ? `Server "${name}" was declined, so it is not started.` : message,
    fix: declined
      ? `\`qm trust ${name}\` approves it after all.`
      : 'Run `qm trust` to see what it would start, and approve it.',
  };
}
