import type { LockedServer } from '../../../config/index.ts';
import { type DefinitionChange, type DefinitionPins, noPins } from '../../../domain/index.ts';

/** A definition that a server lists. */
export interface ListedDefinition {
  readonly kind: DefinitionChange['kind'];
  readonly name: string;
  readonly fingerprint: string;
}

/** The fingerprints of what a server lists. */
export function listedPins({ definitions }: { readonly definitions: readonly ListedDefinition[] }): DefinitionPins {
  const of = (kind: ListedDefinition['kind']): ReadonlyMap<string, string> =>
    new Map(definitions.flatMap((each) => (each.kind === kind ? [[each.name, each.fingerprint]] : [])));
  return { instructions: of('instructions').get(''), tool: of('tool'), prompt: of('prompt'), template: of('template') };
}

/** The entry of the lockfile that accepts everything that a server lists. What was acknowledged stays so. */
export function lockedServer(
  server: { readonly definitions: readonly ListedDefinition[] },
  before: LockedServer | undefined,
): LockedServer {
  return { ...listedPins(server), acknowledged: before?.acknowledged ?? new Map() };
}

/** The entry with these definitions accepted. One without a fingerprint is forgotten. */
export function withAccepted(
  before: LockedServer | undefined,
  accepted: readonly (Omit<ListedDefinition, 'fingerprint'> & { readonly fingerprint?: string | undefined })[],
): LockedServer {
  const { acknowledged, ...pins } = before ?? { ...noPins, acknowledged: new Map<string, string>() };
  const lists = { tool: new Map(pins.tool), prompt: new Map(pins.prompt), template: new Map(pins.template) };
  let { instructions } = pins;
  for (const { kind, name, fingerprint } of accepted) {
    if (kind === 'instructions') instructions = fingerprint;
    else if (fingerprint === undefined) lists[kind].delete(name);
    else lists[kind].set(name, fingerprint);
  }
  return { instructions, ...lists, acknowledged };
}
