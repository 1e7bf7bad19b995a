import { agentNames } from '../agents/agent-names.ts';
import type { CliContext } from '../context.ts';
import { nextCommand } from '../next-command.ts';
import { problemLines } from '../servers/problem-lines.ts';
import { printableLine } from '../terminal/printable.ts';
import { renderTable } from '../terminal/table.ts';
import { hang } from '../terminal/wrap.ts';
import type { Serve } from './open-serve.ts';

/** What a person who has just started the hub needs to know. */
export function bannerLines({ terminal, program, cwd }: CliContext, { hub, url }: Serve): string[] {
  const colours = terminal.errColours;
  const width = terminal.errIsTerminal ? terminal.size().columns : undefined;
  const { configuration } = hub;
  const agent = agentNames(configuration)[0] ?? 'NAME';
  const servers = renderTable(
    hub.status(),
    [
      { title: '', text: ({ name }) => name, paint: colours.bold },
      { title: '', text: ({ transport }) => transport ?? '' },
      { title: '', text: ({ state, tools }) => stateText(state, tools) },
      { title: '', text: ({ error, description }) => printableLine(error ?? description ?? ''), paint: colours.dim },
    ],
    { colours, width: width === undefined ? undefined : width - 4, titles: false },
  );
  const agents = agentNames(configuration).join(', ') || 'none configured: every agent sees every server';
  const wrong = configuration.problems.filter(({ severity }) => severity !== 'note');
  return [
    `${colours.bold('Quartermaster')} serves ${colours.cyan(`${url}/mcp`)}`,
    `  workspace  ${hub.workspace}`,
    ...hang('  agents     ', agents, width),
    `  servers    ${servers.length === 0 ? 'none are configured yet' : ''}`.trimEnd(),
    ...servers.map((line) => `    ${line}`),
    ...problemLines(wrong, colours).flatMap((line) => hang('  ', line, width)),
    '',
    'Next, issue a token for an agent:',
    `  ${colours.cyan(nextCommand({ program, cwd }, hub.workspace, `token issue --agent ${agent}`))}`,
    'and configure its MCP client:',
    colours.dim(`  ${clientSnippet(url, '<token>')}`),
    'Ctrl-C stops the hub.',
  ];
}

export function clientSnippet(url: string, token: string): string {
  const quartermaster = { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } };
  return JSON.stringify({ mcpServers: { quartermaster } });
}

function stateText(state: string, tools: number | undefined): string {
  if (state === 'idle') return tools === undefined ? 'connects when first needed' : `${tools} tools`;
  return state;
}
