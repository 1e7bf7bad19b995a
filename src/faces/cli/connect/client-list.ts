import { didYouMean, HubError } from '../../../base/index.ts';
import { type Client, type ClientContext, findClient, knownClients } from '../../../clients/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { nextCommand } from '../next-command.ts';
import { renderTable } from '../terminal/table.ts';
import { readClientContext, shownPath } from './client-context.ts';
import type { ClientRow } from './connect-shapes.ts';
import { openConnections } from './connection-store.ts';

/** Throws if there is no such client. */
export function pickClient(word: string): Client {
  const found = findClient(word);
  if (found !== undefined) return found;
  const known = knownClients.map(({ name }) => name);
  const words = knownClients.flatMap(({ name, aliases }) => [name, ...aliases]);
  const meant = didYouMean(word, words);
  const name = meant === undefined ? undefined : findClient(meant)?.name;
  throw new HubError('USAGE', `No client is called "${word.slice(0, 80)}".`, {
    hint: name === undefined ? `Known clients: ${known.join(', ')}.` : `Did you mean ${name}?`,
  });
}

/** `qm connect` without a client: which ones are on this machine, and how to connect one. */
export async function listClients(cli: CliContext, invocation: Invocation): Promise<void> {
  const { terminal } = cli;
  const { workspace, json } = invocation;
  const { at, rows } = await readClients(cli, workspace);
  if (json) {
    terminal.out(JSON.stringify(rows));
    return;
  }
  const shown = rows.filter(({ found, agent }) => found !== null || agent !== null);
  if (shown.length > 0) printClients(cli, at, shown);
  else terminal.err(`No client was found. Known clients: ${rows.map(({ client }) => client).join(', ')}.`);
  const next = shown.length === 0 ? 'CLIENT' : shown.find(({ agent }) => agent === null)?.client;
  if (next !== undefined) terminal.err(`Connect one: ${nextCommand(cli, workspace, `connect ${next} --agent NAME`)}`);
}

/** `qm disconnect` without a client: which ones are connected, and how to disconnect one. */
export async function listConnected(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { terminal } = cli;
  const { at, rows } = await readClients(cli, workspace);
  const connected = rows.filter(({ agent }) => agent !== null);
  const [first] = connected;
  if (json) terminal.out(JSON.stringify(connected));
  else if (first === undefined) terminal.err('No client is connected to this workspace.');
  else {
    printClients(cli, at, connected);
    terminal.err(`Disconnect one: ${nextCommand(cli, workspace, `disconnect ${first.client}`)}`);
  }
}

async function readClients(cli: CliContext, workspace: string): Promise<{ at: ClientContext; rows: ClientRow[] }> {
  const at = await readClientContext(cli, workspace);
  const connections = await (await openConnections(cli, workspace)).list();
  const rows = knownClients.map((client): ClientRow => {
    const connection = connections.find((each) => each.client === client.name);
    return {
      client: client.name,
      title: client.title,
      found: client.traces(at).find((path) => at.exists(path)) ?? null,
      agent: connection?.agent ?? null,
      file: connection?.file ?? null,
    };
  });
  return { at, rows };
}

function printClients({ terminal }: CliContext, at: ClientContext, rows: readonly ClientRow[]): void {
  const { colours, width } = terminal;
  const path = (each: string | null): string => (each === null ? '-' : shownPath(at, each));
  const columns = [
    { title: 'CLIENT', text: (row: ClientRow) => row.client, paint: colours.bold },
    { title: 'FOUND', text: ({ found }: ClientRow) => path(found) },
    { title: 'CONNECTED AS', text: ({ agent }: ClientRow) => agent ?? '-' },
    { title: 'IN', text: ({ file }: ClientRow) => path(file) },
  ];
  for (const line of renderTable(rows, columns, { colours, width })) terminal.out(line);
}
