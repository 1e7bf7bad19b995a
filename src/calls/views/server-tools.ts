import type { ToolDefinition } from '../../domain/index.ts';
import { exposedText } from './exposed-text.ts';
import { legacyToolText } from './legacy-tools.ts';
import { entryIn, type SharedEntry, type SharedList, textDigest } from './shared-list.ts';
import { type ToolVisibility, visibilityOf, withOwnUi } from './tool-ui.ts';

/** One tool under its exposed name, with its list text ready. All agents share it. */
export class SharedTool implements SharedEntry {
  readonly tool: ToolDefinition;
  readonly name: string;
  readonly text: string;
  #legacyText: string | undefined;
  #digest: number | undefined;
  #visibility: ToolVisibility | undefined;

  /** `ownedBy` binds a URI to the tool's server. */
  constructor(tool: ToolDefinition, name: string, ownedBy: (uri: string) => string) {
    this.tool = tool;
    this.name = name;
    this.text = withOwnUi(exposedText(tool.text, 'name', tool.name, name), ownedBy);
  }

  get own(): string {
    return this.tool.name;
  }

  /** Of the names and annotations, on which a decision depends. */
  get fingerprint(): string {
    return this.tool.fingerprint;
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

/** Unchanged tools are the earlier objects. */
export function sharedTools(
  tools: readonly ToolDefinition[],
  { nameOf, ownedBy }: ServerNames,
  earlier: SharedList<SharedTool> | undefined,
): readonly SharedTool[] {
  return tools.map((tool) => {
    const name = nameOf(tool.name);
    const known = entryIn(earlier, tool.name);
    const isSame = known?.name === name && known.tool.text === tool.text && known.tool.fingerprint === tool.fingerprint;
    return isSame ? known : new SharedTool(tool, name, ownedBy);
  });
}
