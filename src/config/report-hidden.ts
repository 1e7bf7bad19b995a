import { type ConfiguredServer, isSameConnection, type Problem } from '../domain/index.ts';
import { quote, toProblem } from './findings.ts';
import { restricts, type ServerDraft } from './servers/server-draft.ts';

export interface Hiding {
  readonly winner: ConfiguredServer;
  readonly hidden: ConfiguredServer;
  /** The hidden server as written. */
  readonly draft: ServerDraft;
  readonly file: string;
  /** Whether the winner was generated from the hidden server's file. */
  readonly made: boolean;
}

/** Reports two servers of the same name if it matters which one wins. */
export function reportHidden({ winner, hidden, draft, file, made }: Hiding): Problem[] {
  if (made ? isCopy(winner, hidden) : isSame(winner, hidden)) return [];
  const { source } = winner.kind === 'ready' ? winner.spec : winner;
  const { name, line, field } = draft;
  const message = made
    ? `Server ${quote(name)}: ${source.file} was made from ${file}but now differs from it, and is used.`
    : `Server ${quote(name)} of ${file}:${line} is overridden by the one in ${source.file}:${source.line}.`;
  const fix = made ? 'Run `qm sync`.' : 'Rename or remove one of the two.';
  const still = !made && draft.body !== undefined && restricts(draft.body) ? ' Its restrictions still apply.' : '';
  return [toProblem(file, { severity: 'warning', line, field, server: name, message: `${message}${still}`, fix })];
}

/** A generated entry must equal its source in everything, including mistakes. */
function isCopy(winner: ConfiguredServer, other: ConfiguredServer): boolean {
  if (winner.kind !== 'ready' || other.kind !== 'ready') return winner.kind === other.kind;
  const [ours, theirs] = [winner, other].map(({ spec: { description, limits, cache, instead } }) =>
    JSON.stringify([description, limits, cache, instead]),
  );
  return ours === theirs && isSame(winner, other);
}

/** Users of several clients have the same server in each client's file. */
function isSame(winner: ConfiguredServer, other: ConfiguredServer): boolean {
  if (winner.kind !== 'ready' || other.kind !== 'ready') return false;
  const [ours, theirs] = [winner, other].map(({ spec: { enabled, tools, access } }) => {
    const { source: _where, ...rights } = access;
    return JSON.stringify([enabled, tools.include, tools.exclude, rights]);
  });
  return ours === theirs && isSameConnection(winner.spec, other.spec);
}
