import {
  type Catalog,
  type DefinitionChange,
  type DefinitionKind,
  type DefinitionPins,
  definitionChanges,
  definitionKinds,
  type ServerLock,
} from '../../domain/index.ts';
import { textFingerprint } from './fingerprint.ts';

/** The text of an accepted definition that its server does not list any more, to show the difference. */
export interface FormerDefinition {
  readonly kind: DefinitionKind | 'instructions';
  /** Empty for instructions. */
  readonly name: string;
  readonly text: string;
  readonly fingerprint: string;
}

/** What is stored of a server's definitions besides its last lists. */
export interface AcceptedDefinitions {
  /** As they were when the server was first seen. They count where no lockfile says otherwise. */
  readonly firstSeen: DefinitionPins;
  readonly former: readonly FormerDefinition[];
}

/** For the operator: what a server lists, and how that differs from the accepted definitions. */
export interface ServerDefinitions extends Pick<AcceptedDefinitions, 'former'> {
  readonly listed: Catalog;
  readonly lock: ServerLock | undefined;
  readonly changes: readonly DefinitionChange[];
}

/** The fingerprints of everything that a server lists. */
export function pinsOf({ tools, prompts, templates, instructions }: Catalog): DefinitionPins {
  return {
    instructions: instructions === undefined || instructions === '' ? undefined : textFingerprint(instructions),
    tool: new Map(tools.map(({ name, fingerprint }) => [name, fingerprint])),
    prompt: new Map(prompts.map(({ name, fingerprint }) => [name, fingerprint])),
    template: new Map(templates.map(({ uriTemplate, fingerprint }) => [uriTemplate, fingerprint])),
  };
}

/** The differences from the accepted definitions. A stored catalog may be from a time when nobody stored instructions. */
export function changesIn(listed: Catalog, accepted: DefinitionPins): readonly DefinitionChange[] {
  const pins = pinsOf(listed);
  const { instructions } = listed.instructions === undefined ? accepted : pins;
  return definitionChanges(accepted, { ...pins, instructions });
}

export interface TakenUp {
  /** The lists before. */
  readonly before: Catalog | undefined;
  readonly listed: Catalog;
  readonly known: AcceptedDefinitions | undefined;
  readonly lock: ServerLock | undefined;
}

/** Keeps the text of each accepted definition that is not listed as it was accepted. At most one for each. */
export function nextAccepted({ before, listed, known, lock }: TakenUp): AcceptedDefinitions {
  const firstSeen = known?.firstSeen ?? pinsOf(before ?? listed);
  const accepted = lock?.pins ?? firstSeen;
  const now = pinsOf(listed);
  const earlier = [...(known?.former ?? []), ...(before === undefined ? [] : allDefinitions(before))];
  const former = new Map<string, FormerDefinition>();
  for (const definition of earlier) {
    const { kind, name, fingerprint } = definition;
    const isAccepted = pinIn(accepted, kind, name) === fingerprint;
    if (isAccepted && pinIn(now, kind, name) !== fingerprint) former.set(`${kind} ${name}`, definition);
  }
  return { firstSeen, former: [...former.values()] };
}

function pinIn(pins: DefinitionPins, kind: FormerDefinition['kind'], name: string): string | undefined {
  return kind === 'instructions' ? pins.instructions : pins[kind].get(name);
}

/** All definitions of a catalog with their texts. */
export function allDefinitions(catalog: Catalog): readonly FormerDefinition[] {
  const { tools, prompts, templates, instructions } = catalog;
  const named = {
    tool: tools.map(({ name, text, fingerprint }) => ({ name, text, fingerprint })),
    prompt: prompts.map(({ name, text, fingerprint }) => ({ name, text, fingerprint })),
    template: templates.map(({ uriTemplate: name, text, fingerprint }) => ({ name, text, fingerprint })),
  };
  const own = definitionKinds.flatMap((kind) => named[kind].map((each) => ({ kind, ...each })));
  const fingerprint = pinsOf(catalog).instructions;
  if (instructions === undefined || fingerprint === undefined) return own;
  return [...own, { kind: 'instructions', name: '', text: instructions, fingerprint }];
}
