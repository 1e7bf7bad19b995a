import { type ClientRules, compileNameOrPattern, isPattern, type PolicyRule } from '../../../domain/index.ts';
import { findRepeats } from '../../files/find-repeats.ts';
import { child, entryOf, type SourceNode } from '../../files/source-tree.ts';
import { dotted, type Finding } from '../../findings.ts';
import { createRulesWithPrefix, mostEntries, type RulesWithPrefix } from '../../restrictions/rules-with-prefix.ts';
import { textsAt } from '../../texts.ts';

/** The settings of Gemini and its relatives that name servers and tools. */
export interface GeminiLists {
  /** Whether the lists of servers leave this one enabled. */
  isListed(server: string): boolean;
  /** Servers that are disabled by name or pattern, wherever they are configured. */
  readonly excluded: readonly string[];
  /** Tools that are hidden, of any server or by the client's own names for them. */
  readonly tools: RulesWithPrefix;
  /** Rules on tools, by the names that the client gives them. */
  readonly rules: RulesWithPrefix;
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
  const [repeat] = findRepeats(root, words.hasRules ? [...readPaths, ['permissions']] : readPaths);
  if (repeat !== undefined) return { finding: repeat };
  const [mcp, permissions] = [child(root, 'mcp'), words.hasRules ? child(root, 'permissions') : undefined];
  for (const key of ['mcp', 'tools', 'permissions']) {
    const section = child(root, key);
    if (section === undefined || section.kind === 'map' || (key === 'permissions' && !words.hasRules)) continue;
    const line = entryOf(root, key)?.line ?? section.line;
    return {
      finding: { severity: 'error', line, field: key, message: `"${key}" must be an object.`, fix: 'Write { … }.' },
    };
  }
  for (const [node, field, key] of [
    [mcp, 'mcp', 'allowed'],
    [mcp, 'mcp', 'excluded'],
    [root, '', 'allowMCPServers'],
    [root, '', 'excludeMCPServers'],
    [root, '', 'excludeTools'],
    [child(root, 'tools'), 'tools', 'exclude'],
    [permissions, 'permissions', 'deny'],
    [permissions, 'permissions', 'ask'],
  ] as const) {
    const list = child(node, key);
    if (list === undefined || isShortList(list)) continue;
    const at = dotted(field, key);
    const line = entryOf(node, key)?.line ?? list.line;
    const message = `"${at}" must be a list of at most ${mostEntries} names.`;
    return { finding: { severity: 'error', line, field: at, message, fix: 'Write ["name", …].' } };
  }
  const excluded = [...(textsAt(mcp, 'excluded') ?? []), ...(textsAt(root, 'excludeMCPServers') ?? [])];
  return {
    isListed: createFilter(textsAt(mcp, 'allowed') ?? textsAt(root, 'allowMCPServers'), excluded, words),
    excluded: words.hasPatterns
      ? excluded.map((text) => text.replaceAll('?', '*'))
      : excluded.filter((text) => !isPattern(text)),
    tools: createRulesWithPrefix({ rules: hiddenTools(root, file) }),
    rules: createRulesWithPrefix({
      rules: [...rulesIn(permissions, 'ask', file), ...rulesIn(permissions, 'deny', file)],
    }),
  };
}

const readPaths = [['mcp'], ['allowMCPServers'], ['excludeMCPServers'], ['excludeTools'], ['tools', 'exclude']];

function isShortList(node: SourceNode): boolean {
  return node.kind === 'list' && node.items.length <= mostEntries && node.items.every(({ kind }) => kind === 'scalar');
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

/** Tools that the settings exclude. An entry with arguments refers to the client's own tools. */
function hiddenTools(root: SourceNode, file: string): readonly PolicyRule[] {
  const lists = [child(child(root, 'tools'), 'exclude'), child(root, 'excludeTools')];
  return lists
    .flatMap((list) => (list?.kind === 'list' ? list.items : []))
    .flatMap(({ line, ...item }): PolicyRule[] =>
      item.kind !== 'scalar' || item.text.includes('(')
        ? []
        : [{ pattern: item.text, effect: 'deny', source: { file, line } }],
    );
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

/** What the settings say about the tools of one server. The client's own names for them begin with the server's. */
export function geminiRules(server: string, { tools, rules }: GeminiLists): readonly ClientRules[] {
  // The client writes "_" for characters that models do not accept in names.
  const names = [...new Set([server, server.replace(/[^\w.-]/g, '_'), server.replace(/[^\w-]/g, '_')])];
  const hidden = names.flatMap((name) => [`mcp_${name}_`, `mcp__${name}__`, `${name}__`]);
  const found = [...['', ...hidden].map(tools), ...names.map((name) => rules(`mcp__${name}__`))];
  return found.filter((each) => each !== undefined);
}
