import type { DefinitionChange, Problem } from '../../domain/index.ts';
import type { UpstreamPool } from '../upstream-pool.ts';

/** Servers whose definitions differ from the accepted ones. */
export function definitionProblems({ upstreams }: Pick<UpstreamPool, 'upstreams'>): readonly Problem[] {
  return [...upstreams].flatMap(([server, { control }]): Problem[] => {
    const { changes = [], lock } = control.definitions ?? {};
    if (changes.length === 0) return [];
    const one = changes.length === 1;
    const count = one ? '1 definition' : `${changes.length} definitions`;
    const words = { enforce: enforced, warn: warned, none: unlocked }[lock?.mode ?? 'none'];
    return [
      {
        severity: 'warning',
        file: lock === undefined ? control.spec.source.file : 'quartermaster.lock',
        server,
        message: `${count} of server "${server}" ${words(one)}: ${named(changes)}.`,
        fix:
          lock === undefined
            ? `\`qm lock --diff ${server}\` shows the changes. \`qm lock accept ${server}\` ends this warning; \`qm lock\` pins the definitions of all servers.`
            : `\`qm lock --diff ${server}\` shows the changes; \`qm lock accept ${server}\` accepts them.`,
      },
    ];
  });
}

const enforced = (one: boolean): string =>
  one ? 'is not the accepted one, and agents do not get it' : 'are not the accepted ones, and agents do not get them';
const warned = (one: boolean): string =>
  one ? 'differs from the accepted one, and agents get it' : 'differ from the accepted ones, and agents get them';
const unlocked = (one: boolean): string =>
  one ? 'has changed since the hub first saw it' : 'have changed since the hub first saw them';

const mostNames = 5;

function named(changes: readonly DefinitionChange[]): string {
  const names = changes.slice(0, mostNames).map(({ kind, name, change, from }) => {
    const what = kind === 'instructions' ? kind : kind === 'tool' ? name : `${kind} ${name}`;
    return `${what} ${change}${from === undefined ? '' : ` from ${from}`}`;
  });
  const more = changes.length - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}
