import { type Configuration, isPattern } from '../../../domain/index.ts';
import { toolSpellings } from '../../../governance/index.ts';

/** A tool that an agent sees. */
export interface SeenTool {
  readonly server: string;
  readonly tool: string;
  /** The exposed name. */
  readonly name: string;
}

export interface Exclusion {
  /** The file where the agent's lists are, or where they can be. */
  readonly file: string;
  /** What to merge into it. Null if its format has no list for single tools. */
  readonly snippet: string | null;
}

/** What takes these tools from an agent and leaves it the others. */
export function excludeTools(
  configuration: Configuration,
  agent: string,
  { unused, used }: { readonly unused: readonly SeenTool[]; readonly used: readonly SeenTool[] },
): Exclusion {
  const file = fileOf(configuration, agent);
  const kept = new Set(
    used.flatMap(({ server, tool, name }) => toolSpellings(server, tool, name).map(inServer(server))),
  );
  const lists = new Map<string, string[]>();
  for (const each of unused) {
    const word = wordFor(each, kept);
    if (word === undefined) continue;
    const before = configuration.agents.get(agent)?.tools.get(each.server)?.exclude ?? [];
    const list = lists.get(each.server) ?? [...before];
    lists.set(each.server, list);
    list.push(word);
  }
  if (lists.size === 0) return { file, snippet: null };
  if (isSquadFile(file)) return { file, snippet: squadSnippet(agent, lists) };
  if (isAgentFile(file)) return { file, snippet: ruleSnippet(unused) };
  return { file, snippet: file === ownFile ? listSnippet(agent, lists) : null };
}

const ownFile = 'quartermaster.yaml';

/**
 * Where the entry of the agent is. Without one, where those of others are: agents are read from one file, and an entry in a
 * stronger one would take their servers from them.
 */
function fileOf({ agents }: Configuration, agent: string): string {
  const own = agents.get(agent)?.source.file;
  if (own !== undefined && !isTeamPage(own)) return own;
  const others = [...agents.values()].map(({ source }) => source.file);
  return others.includes(ownFile) ? ownFile : (others.find(isSquadFile) ?? ownFile);
}

function isSquadFile(file: string): boolean {
  return file === '.squad/mcp-config.json';
}

/** It names agents and gives them nothing. */
function isTeamPage(file: string): boolean {
  return file.endsWith('/team.md');
}

function isAgentFile(file: string): boolean {
  return /\/agent\.ya?ml$/.test(file);
}

/** A word in a list may mean two tools: `files_read` is also `read` of the server `files`. */
function wordFor({ server, tool }: SeenTool, kept: ReadonlySet<string>): string | undefined {
  if (isPattern(tool)) return undefined;
  return [tool, `${server}.${tool}`, `${server}_${tool}`].find((word) => !kept.has(inServer(server)(word)));
}

/** Lists are per server. */
function inServer(server: string): (word: string) => string {
  return (word) => `${server}\0${word}`;
}

type Lists = ReadonlyMap<string, readonly string[]>;

function listSnippet(agent: string, lists: Lists): string {
  const lines = ['agents:', `  ${yamlText(agent)}:`, '    tools:'];
  for (const [server, words] of lists) {
    lines.push(
      `      ${yamlText(server)}:`,
      '        exclude:',
      ...words.map((word) => `          - ${yamlText(word)}`),
    );
  }
  return `${lines.join('\n')}\n`;
}

function ruleSnippet(unused: readonly SeenTool[]): string {
  const rules = unused
    .filter(({ tool }) => !isPattern(tool))
    .map(({ server, tool }) => `    ${yamlText(`${server}.${tool}`)}: deny`);
  return `${['policies:', '  tools:', ...rules].join('\n')}\n`;
}

function squadSnippet(agent: string, lists: Lists): string {
  const servers = [...lists].map(([server, exclude]) => [server, { exclude }]);
  return `${JSON.stringify({ toolRestrictions: { [agent]: Object.fromEntries(servers) } }, undefined, 2)}\n`;
}

/** A text that YAML could take for something else is quoted; JSON texts are YAML texts. */
function yamlText(text: string): string {
  return plainText.test(text) && !otherMeaning.test(text) ? text : JSON.stringify(text);
}

const plainText = /^[A-Za-z][\w.-]*$/;
const otherMeaning = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
