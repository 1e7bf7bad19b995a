import { compileNameOrPattern, isPattern, type PolicyRule, type ToolFilter } from '../../../domain/index.ts';
import { child, entryOf, type SourceNode } from '../../files/source-tree.ts';
import { dotted, type Finding } from '../../findings.ts';
import { textsAt } from '../../texts.ts';

/** The settings of Gemini and its relatives that name servers and tools. */
export interface GeminiLists {
  /** Whether the lists of servers leave this one enabled. */
  isListed(server: string): boolean;
  /** Servers that are disabled by name or pattern, wherever they are configured. */
  readonly excluded: readonly string[];
  /** Tools that are hidden, of any server. */
  readonly tools: readonly string[];
  /** Rules on tools, by the names that the client gives them. The last that matches decides. */
  readonly rules: readonly PolicyRule[];
}

export interface GeminiWords {
  /** Lists of servers may contain patterns. */
  readonly hasPatterns?: true;
  /** `permissions` has rules. */
  readonly hasRules?: true;
}

/** If a list cannot be read, nothing in the file can be relied on. */
export function readGeminiLists(
  root: SourceNode,
  file: string,
  words: GeminiWords,
): GeminiLists | { readonly finding: Finding } {
  const [mcp, permissions] = [child(root, 'mcp'), words.hasRules ? child(root, 'permissions') : undefined];
  for (const [node, field, key] of [
    [mcp, 'mcp', 'allowed'],
    [mcp, 'mcp', 'excluded'],
    [root, '', 'allowMCPServers'],
    [root, '', 'excludeMCPServers'],
    [permissions, 'permissions', 'deny'],
    [permissions, 'permissions', 'ask'],
  ] as const) {
    const list = child(node, key);
    if (list === undefined || isShortList(list)) continue;
    const at = dotted(field, key);
    const line = entryOf(node, key)?.line ?? list.line;
    const message = `"${at}" must be a list of at most ${mostNames} names.`;
    return { finding: { severity: 'error', line, field: at, message, fix: 'Write ["name", …].' } };
  }
  const excluded = [...(textsAt(mcp, 'excluded') ?? []), ...(textsAt(root, 'excludeMCPServers') ?? [])];
  return {
    isListed: createFilter(textsAt(mcp, 'allowed') ?? textsAt(root, 'allowMCPServers'), excluded, words),
    excluded: words.hasPatterns
      ? excluded.map((text) => text.replaceAll('?', '*'))
      : excluded.filter((text) => !isPattern(text)),
    tools: excludedTools(root),
    rules: [...rulesIn(permissions, 'ask', file), ...rulesIn(permissions, 'deny', file)],
  };
}

/** Each name is compared with each server. */
const mostNames = 1_000;

function isShortList(node: SourceNode): boolean {
  return node.kind === 'list' && node.items.length <= mostNames && node.items.every(({ kind }) => kind === 'scalar');
}

/** `?` stands for one character, and for any run of them here: more is excluded that way, and less allowed. */
function createFilter(
  allowed: readonly string[] | undefined,
  excluded: readonly string[],
  { hasPatterns }: GeminiWords,
): GeminiLists['isListed'] {
  const match = (text: string) => (hasPatterns ? compileNameOrPattern(text) : (name: string) => name === text);
  const hidden = excluded.map((text) => match(hasPatterns ? text.replaceAll('?', '*') : text));
  const shown = allowed?.filter((text) => !hasPatterns || !text.includes('?')).map(match);
  return (name) => (shown === undefined || shown.some((fits) => fits(name))) && !hidden.some((fits) => fits(name));
}

/** Tools that the settings exclude, from any server. An entry with arguments refers to the client's own tools. */
function excludedTools(root: SourceNode): readonly string[] {
  const names = [...(textsAt(child(root, 'tools'), 'exclude') ?? []), ...(textsAt(root, 'excludeTools') ?? [])];
  return names.filter((name) => !name.includes('('));
}

/** `mcp__server` means all of its tools. Conditions on arguments count as met. */
function rulesIn(permissions: SourceNode | undefined, key: 'ask' | 'deny', file: string): PolicyRule[] {
  const list = child(permissions, key);
  return (list?.kind === 'list' ? list.items : []).flatMap((item): PolicyRule[] => {
    const name = item.kind === 'scalar' ? item.text.replace(/\(.*$/s, '').trim() : '';
    const effect = key === 'deny' ? 'deny' : 'require-approval';
    const source = { file, line: item.line };
    const rule = { pattern: name, effect, source } as const;
    return /^mcp__[^*]*$/.test(name) ? [rule, { ...rule, pattern: `${name}__*` }] : [rule];
  });
}

/** The tools of one server. The client's own names for them begin with the server's. */
export function geminiTools(node: SourceNode, server: string, { tools }: Pick<GeminiLists, 'tools'>): ToolFilter {
  const include = textsAt(node, 'includeTools');
  const starts = [`mcp_${server}_`, `mcp__${server}__`, `${server}__`];
  const own = tools.map((tool) => {
    const start = starts.find((each) => tool.startsWith(each));
    return start === undefined ? tool : tool.slice(start.length);
  });
  const exclude = [...(textsAt(node, 'excludeTools') ?? []), ...own];
  return { ...(include === undefined ? {} : { include }), ...(exclude.length === 0 ? {} : { exclude }) };
}
