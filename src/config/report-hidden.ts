import type { FleetServer, Problem } from '../domain/index.ts';
import { quote, toProblem } from './problems.ts';
import { restricts, type ServerDraft } from './server-draft.ts';

export interface Hiding {
  readonly winner: FleetServer;
  readonly hidden: FleetServer;
  /** The hidden one as it is written. */
  readonly draft: ServerDraft;
  readonly file: string;
  /** Whether the winner was generated from the hidden one's file. */
  readonly made: boolean;
}

/** Two servers of one name are worth a word where it makes a difference which of them counts. */
export function reportHidden({ winner, hidden, draft, file, made }: Hiding): Problem[] {
  if (made ? isCopy(winner, hidden) : isSame(winner, hidden)) return [];
  const { source } = winner.kind === 'ready' ? winner.spec : winner;
  const { name, line, field } = draft;
  const message = made
    ? `Server ${quote(name)}: ${source.file} was made from ${file}, says something else by now, and counts.`
    : `Server ${quote(name)} of ${file}:${line} is hidden by the one of ${source.file}:${source.line}.`;
  const fix = made ? 'Run `qm sync`.' : 'Rename or remove one of the two.';
  const still = !made && draft.body !== undefined && restricts(draft.body) ? ' What it forbids stays forbidden.' : '';
  return [toProblem(file, { severity: 'warning', line, field, server: name, message: `${message}${still}`, fix })];
}

/** What was generated from a file stands for it in everything, its mistakes too. */
function isCopy(winner: FleetServer, other: FleetServer): boolean {
  if (winner.kind !== 'ready' || other.kind !== 'ready') return winner.kind === other.kind;
  const [ours, theirs] = [winner, other].map(({ spec: { description, limits, cache, instead } }) =>
    JSON.stringify([description, limits, cache, instead]),
  );
  return ours === theirs && isSame(winner, other);
}

/** Who works with several clients has the same server in the file of each. */
function isSame(winner: FleetServer, other: FleetServer): boolean {
  if (winner.kind !== 'ready' || other.kind !== 'ready') return false;
  const [ours, theirs] = [winner, other].map(({ spec: { connectionKey, enabled, tools, access } }) => {
    const { source: _where, ...rights } = access;
    return JSON.stringify([connectionKey, enabled, tools.include, tools.exclude, rights]);
  });
  return ours === theirs;
}
