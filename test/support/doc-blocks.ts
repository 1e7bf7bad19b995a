/**
 * The code blocks of a page, with the check for each. An HTML comment before a block, which Markdown does not show,
 * selects the check:
 *
 *   <!-- file: NAME -->     a file of the workspace, loaded by our own reader; its first line may name it instead
 *   <!-- run -->            commands or a program, run in the workspace; output follows a command after `$ `
 *   <!-- checked: TEST -->  another test reads it from the page
 *   <!-- not run: WHY -->   cannot run here
 *   <!-- workspace: NAME -->  no block: the following blocks run in a new workspace of that kind (doc-workspaces.ts)
 */
export interface DocBlock {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly kind: DocKind | undefined;
  /** The text after the kind. */
  readonly about: string;
}

const kinds = ['file', 'run', 'checked', 'not run'] as const;
export type DocKind = (typeof kinds)[number];

/** Consecutive blocks that share a workspace. */
export interface DocScene {
  readonly page: string;
  readonly line: number;
  readonly workspace: string;
  readonly blocks: readonly DocBlock[];
}

export function readScenes(page: string, text: string): DocScene[] {
  const scenes: (DocScene & { blocks: DocBlock[] })[] = [{ page, line: 1, workspace: 'empty', blocks: [] }];
  const lines = text.split('\n');
  let before: Remark | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = /^( *)(```+)(.*)$/.exec(line);
    const remark = remarkIn(line);
    if (remark?.kind === 'workspace') scenes.push({ page, line: at + 1, workspace: remark.about, blocks: [] });
    if (fence !== null) {
      const [, indent = '', ticks = '', language = ''] = fence;
      const end = lines.findIndex((other, index) => index > at && other.trim() === ticks);
      if (end < 0) throw new Error(`${page}:${at + 1}: a code block without an end`);
      const code = lines.slice(at + 1, end).map((each) => each.slice(indent.length));
      scenes.at(-1)?.blocks.push(toBlock(page, at + 1, language.trim(), code, before));
      at = end;
    }
    if (line.trim() !== '') before = remark;
  }
  return scenes.filter(({ blocks }) => blocks.length > 0);
}

interface Remark {
  readonly kind: string;
  readonly about: string;
}

function remarkIn(line: string): Remark | undefined {
  const [, kind, about = ''] = /^ *<!-- ([a-z ]+?)(?:: (.+))? -->$/.exec(line) ?? [];
  return kind === undefined ? undefined : { kind, about };
}

function toBlock(page: string, line: number, language: string, code: string[], remark: Remark | undefined): DocBlock {
  const block = { page, line, language, text: `${code.join('\n')}\n` };
  const kind = kinds.find((each) => each === remark?.kind);
  if (kind !== undefined) return { ...block, kind, about: remark?.about ?? '' };
  const named = /^(?:#|\/\/) ((?:[\w@-]+\/|\.)*[\w.-]+\.(?:yaml|json|toml|mjs))\b/.exec(code[0] ?? '')?.[1];
  return { ...block, kind: named === undefined ? undefined : 'file', about: named ?? '' };
}
