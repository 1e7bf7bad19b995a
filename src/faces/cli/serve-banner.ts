import type { CliContext } from './context.ts';
import type { Serve } from './open-serve.ts';
import { oneLine } from './printable.ts';
import { problemLines } from './problem-lines.ts';
import { renderTable } from './table.ts';

/** What a person wants to know who has just started the hub. */
export function bannerLines({ terminal, program, cwd }: CliContext, { hub, url }: Serve): string[] {
  const colours = terminal.errColours;
  const { fleet } = hub;
  const agent = [...fleet.agents.keys()][0] ?? 'NAME';
  const place = hub.workspace === cwd ? '' : ` --workspace ${shellWord(hub.workspace)}`;
  const servers = renderTable(
    hub.status(),
    [
      { title: '', text: ({ name }) => name, paint: colours.bold },
      { title: '', text: ({ transport }) => transport ?? '' },
      { title: '', text: ({ state, tools }) => stateText(state, tools) },
      { title: '', text: ({ error, description }) => oneLine(error ?? description ?? ''), paint: colours.dim },
    ],
    { colours, titles: false },
  );
  const agents = [...fleet.agents.keys()].join(', ');
  return [
    `${colours.bold('Quartermaster')} serves ${colours.cyan(`${url}/mcp`)}`,
    `  workspace  ${hub.workspace}`,
    `  agents     ${agents === '' ? 'none are named: every agent sees every server' : agents}`,
    `  servers    ${servers.length === 0 ? 'none are configured yet' : ''}`.trimEnd(),
    ...servers.map((line) => `    ${line}`),
    ...problemLines(fleet.problems, colours).map((line) => `  ${line}`),
    '',
    'Next, give an agent its token:',
    `  ${colours.cyan(`${program} token issue --agent ${agent}${place}`)}`,
    'and tell its MCP client:',
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

function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
