import type { PromptDefinition, TemplateDefinition } from './catalog.ts';
import type { ToolDefinition } from './tool.ts';

/** The kinds of definitions that the lockfile has one by one. Resources are content, which may change at any time. */
export const definitionKinds = ['tool', 'prompt', 'template'] as const;

export type DefinitionKind = (typeof definitionKinds)[number];

/** The fingerprints of a server's accepted definitions. */
export interface DefinitionPins extends Readonly<Record<DefinitionKind, ReadonlyMap<string, string>>> {
  /** Of its instructions. Undefined: it had none. */
  readonly instructions: string | undefined;
}

export const noPins: DefinitionPins = {
  instructions: undefined,
  tool: new Map(),
  prompt: new Map(),
  template: new Map(),
};

/** `enforce`: agents get only accepted definitions. `warn`: they get all, and the operator sees the differences. */
export type LockMode = 'enforce' | 'warn';

/** The lockfile's word on one server. */
export interface ServerLock {
  readonly mode: LockMode;
  readonly pins: DefinitionPins;
  /** Findings that somebody looked at, as `tool:add hidden-instruction`, with the reason why they are fine. */
  readonly acknowledged: ReadonlyMap<string, string>;
}

/** Why agents do not get a definition: it changed, the lockfile has no such name, or the server's instructions changed. */
export type WithheldReason = 'changed' | 'new' | 'instructions';

export interface WithheldDefinition<Definition> {
  readonly definition: Definition;
  readonly why: WithheldReason;
}

/** The definitions of a server that are not the accepted ones, by the server's own name. */
export interface Withheld {
  readonly tool: ReadonlyMap<string, WithheldDefinition<ToolDefinition>>;
  readonly prompt: ReadonlyMap<string, WithheldDefinition<PromptDefinition>>;
  readonly template: ReadonlyMap<string, WithheldDefinition<TemplateDefinition>>;
  /** Agents get nothing of the server: its instructions changed, or none of its definitions is accepted. */
  readonly isWhole: boolean;
}

/** The definitions that both versions of a lock accept. Without a lock, everything is accepted. */
export function narrowLock(one: ServerLock | undefined, other: ServerLock | undefined): ServerLock | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const both = (kind: DefinitionKind): ReadonlyMap<string, string> => equalEntries(one.pins[kind], other.pins[kind]);
  const isSameText = one.pins.instructions === other.pins.instructions;
  return {
    mode: one.mode === 'enforce' || other.mode === 'enforce' ? 'enforce' : 'warn',
    pins: {
      instructions: isSameText ? one.pins.instructions : disputed,
      tool: both('tool'),
      prompt: both('prompt'),
      template: both('template'),
    },
    acknowledged: equalEntries(one.acknowledged, other.acknowledged),
  };
}

function equalEntries(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map([...one].filter(([name, value]) => other.get(name) === value));
}

/** No fingerprint is like this, so no instructions are accepted. */
const disputed = 'disputed';
