import {
  type Catalog,
  type DefinitionKind,
  definitionKinds,
  onlyTools,
  type ServerLock,
  type Withheld,
  type WithheldDefinition,
} from '../../domain/index.ts';
import { textFingerprint } from './fingerprint.ts';

/**
 * The catalog that agents get: only definitions that the lockfile has, exactly as it has them. Every catalog goes through
 * here before anybody can see it, whether a server listed it or it was stored. The others are apart, for refusals and for
 * the operator.
 */
export function withholdUnlocked(listed: Catalog, lock: ServerLock | undefined): Catalog {
  if (lock?.mode !== 'enforce') return listed;
  if (!hasLockedInstructions(listed, lock)) return withoutAny(listed, lock);
  const tools = divide(listed.tools, 'tool', ({ name }) => name, lock);
  const prompts = divide(listed.prompts, 'prompt', ({ name }) => name, lock);
  const templates = divide(listed.templates, 'template', ({ uriTemplate }) => uriTemplate, lock);
  const held = tools.held.size + prompts.held.size + templates.held.size;
  if (held === 0) return listed;
  const isWhole = tools.free.length + prompts.free.length + templates.free.length === 0;
  const withheld: Withheld = { tool: tools.held, prompt: prompts.held, template: templates.held, isWhole };
  if (isWhole) return empty(listed, withheld);
  return { ...listed, tools: tools.free, prompts: prompts.free, templates: templates.free, withheld };
}

/** Keeps the earlier object if agents and operators would notice no difference. */
export function sameWithheld(earlier: Withheld | undefined, now: Withheld | undefined): Withheld | undefined {
  if (earlier === undefined || now === undefined) return now;
  const isSame =
    definitionKinds.every((kind) => isSameMap(earlier[kind], now[kind])) && earlier.isWhole === now.isWhole;
  return isSame ? earlier : now;
}

type WithheldTexts = ReadonlyMap<string, WithheldDefinition<{ readonly text: string }>>;

function isSameMap(one: WithheldTexts, other: WithheldTexts): boolean {
  if (one.size !== other.size) return false;
  for (const [name, { definition, why }] of one) {
    const now = other.get(name);
    if (now?.why !== why || now.definition.text !== definition.text) return false;
  }
  return true;
}

/** A stored catalog may be from a time when nobody stored instructions. Agents never get them from the hub. */
export function hasLockedInstructions({ instructions }: Catalog, { pins }: ServerLock): boolean {
  if (instructions === undefined) return true;
  return pins.instructions === (instructions === '' ? undefined : textFingerprint(instructions));
}

interface Divided<Definition> {
  readonly free: readonly Definition[];
  readonly held: ReadonlyMap<string, WithheldDefinition<Definition>>;
}

function divide<Definition extends { readonly fingerprint: string }>(
  definitions: readonly Definition[],
  kind: DefinitionKind,
  nameOf: (definition: Definition) => string,
  { pins }: ServerLock,
): Divided<Definition> {
  const held = new Map<string, WithheldDefinition<Definition>>();
  const free = definitions.filter((definition) => {
    const name = nameOf(definition);
    const pin = pins[kind].get(name);
    if (pin === definition.fingerprint) return true;
    held.set(name, { definition, why: pin === undefined ? 'new' : 'changed' });
    return false;
  });
  return { free, held };
}

/** Definitions that are the accepted ones are withheld too: what the server tells a model about them is not. */
function withoutAny(listed: Catalog, lock: ServerLock): Catalog {
  const all = <Definition>(
    definitions: readonly Definition[],
    kind: DefinitionKind,
    nameOf: (definition: Definition) => string,
  ): ReadonlyMap<string, WithheldDefinition<Definition>> =>
    new Map(
      definitions.map((definition) => {
        const name = nameOf(definition);
        return [name, { definition, why: lock.pins[kind].has(name) ? 'instructions' : 'new' }];
      }),
    );
  return empty(listed, {
    tool: all(listed.tools, 'tool', ({ name }) => name),
    prompt: all(listed.prompts, 'prompt', ({ name }) => name),
    template: all(listed.templates, 'template', ({ uriTemplate }) => uriTemplate),
    isWhole: true,
  });
}

function empty({ at, warnings, instructions }: Catalog, withheld: Withheld): Catalog {
  return { ...onlyTools([], at), warnings, instructions, withheld };
}
