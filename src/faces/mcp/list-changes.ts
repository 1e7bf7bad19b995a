import type { AgentLists, ListCaller, ListDigests, ListKind } from '../../calls/index.ts';

export type ListName = (typeof listNames)[number];

/** The lists that have a notification of their own; resource templates are announced with the resources. */
export const listNames = ['tools', 'prompts', 'resources'] as const;

export const changeMethods: Readonly<Record<ListName, string>> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
};

/** The lists that each notification is about. */
const kindsOf: Readonly<Record<ListName, readonly ListKind[]>> = {
  tools: ['tools'],
  prompts: ['prompts'],
  resources: ['resources', 'templates'],
};

export function listKindsOf(lists: Iterable<ListName>): readonly ListKind[] {
  return [...lists].flatMap((list) => kindsOf[list]);
}

/**
 * Every client is notified of changes of these. A digest of resources costs a decision on each URI, so changes of resources
 * are for clients that asked for the list.
 */
const usualLists: readonly ListKind[] = ['tools', 'prompts'];

/** Adds the lists that the client knows from now on. Those that it knows already stay as they are. */
export function addLists(
  known: ListDigests,
  lists: Pick<AgentLists, 'digests'>,
  caller: ListCaller,
  asked: readonly ListKind[] = [],
): ListDigests {
  const added = [...usualLists, ...asked].filter((list) => known[list] === undefined);
  return added.length === 0 ? known : Object.assign(known, lists.digests(caller, added));
}

/** Returns which of the lists that the client knows have changed, and brings `known` up to date. */
export function takeChanges(
  known: ListDigests,
  lists: Pick<AgentLists, 'digests'>,
  caller: ListCaller,
): readonly ListName[] {
  return bringUpToDate(known, lists.digests(caller, kindsIn(known)));
}

/** The same in small steps. Yields the work of each step. */
export function* takingChanges(
  known: ListDigests,
  lists: Pick<AgentLists, 'digesting'>,
  caller: ListCaller,
): Generator<number, readonly ListName[]> {
  return bringUpToDate(known, yield* lists.digesting(caller, kindsIn(known)));
}

/** The keys of digests are kinds of lists. */
function kindsIn(digests: ListDigests): readonly ListKind[] {
  return Object.keys(digests) as ListKind[];
}

function bringUpToDate(known: ListDigests, now: ListDigests): readonly ListName[] {
  const changed = kindsIn(now).filter((kind) => known[kind] !== now[kind]);
  Object.assign(known, now);
  return listNames.filter((list) => kindsOf[list].some((kind) => changed.includes(kind)));
}
