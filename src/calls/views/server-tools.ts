import type { Catalog, ToolDefinition, WithheldReason } from '../../domain/index.ts';
import { exposedText } from './exposed-text.ts';
import { legacyToolText } from './legacy-tools.ts';
import { entryIn, type SharedEntry, type SharedList, textDigest } from './shared-list.ts';
import { type ToolVisibility, visibilityOf, withOwnUi } from './tool-ui.ts';

/** One tool under its exposed name, with its list text ready. All agents share it. */
export class SharedTool implements SharedEntry {
  readonly tool: ToolDefinition;
  readonly name: string;
  readonly text: string;
  /** Set if agents do not get the tool, because its definition is not the accepted one. */
  readonly withheld: WithheldReason | undefined;
  #legacyText: string | undefined;
  #digest: number | undefined;
  #visibility: ToolVisibility | undefined;

  /** `ownedBy` binds a URI to the tool's server. */
  constructor({ tool, withheld }: NamedTool, name: string, ownedBy: (uri: string) => string) {
    this.withheld = withheld;
    this.tool = tool;
    this.name = name;
    this.text = withOwnUi(exposedText(tool.text, 'name', tool.name, name), ownedBy);
  }

  get own(): string {
    return this.tool.name;
  }

  /** Of the names and annotations, on which a decision depends, and of whether the definition was accepted. */
  get fingerprint(): string {
    const { tool, withheld } = this;
    return withheld === undefined ? tool.fingerprint : `${withheld} ${tool.fingerprint}`;
  }

  get visibility(): ToolVisibility {
    this.#visibility ??= visibilityOf(this.tool.text);
    return this.#visibility;
  }

  /** The same for clients of the legacy era. */
  get legacyText(): string {
    this.#legacyText ??= legacyToolText(this.text);
    return this.#legacyText;
  }

  get digest(): number {
    this.#digest ??= textDigest(this.text);
    return this.#digest;
  }
}

export interface ServerNames {
  /** The exposed name of the server's own one. */
  nameOf(own: string): string;
  /** The form of a URI that leads to the server. */
  ownedBy(uri: string): string;
}

/** A tool that has a name for agents. */
interface NamedTool {
  readonly tool: ToolDefinition;
  readonly withheld: WithheldReason | undefined;
}

/**
 * Tools that agents may know: those that they get, and withheld ones that the lockfile has in another form, whose calls get an
 * answer that says why. A tool that nobody accepted has no name, because it could take the name of another server's.
 */
export function namedTools({ tools, withheld }: Pick<Catalog, 'tools' | 'withheld'>): readonly NamedTool[] {
  const free = tools.map((tool): NamedTool => ({ tool, withheld: undefined }));
  if (withheld === undefined) return free;
  const known = [...withheld.tool.values()].filter(({ why }) => why !== 'new');
  return [...free, ...known.map(({ definition, why }): NamedTool => ({ tool: definition, withheld: why }))];
}

/** Unchanged tools are the earlier objects. */
export function sharedTools(
  tools: readonly NamedTool[],
  { nameOf, ownedBy }: ServerNames,
  earlier: SharedList<SharedTool> | undefined,
): readonly SharedTool[] {
  return tools.map((named) => {
    const { tool, withheld } = named;
    const name = nameOf(tool.name);
    const known = entryIn(earlier, tool.name);
    const isSame =
      known?.name === name &&
      known.withheld === withheld &&
      known.tool.text === tool.text &&
      known.tool.fingerprint === tool.fingerprint;
    return isSame ? known : new SharedTool(named, name, ownedBy);
  });
}
