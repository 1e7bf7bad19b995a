import { didYouMean, HubError } from '../../../base/index.ts';
import { type Client, findClient, knownClients } from '../../../clients/index.ts';
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

/** `qm connect` without a client: which ones are on this machine, and how to connect them. */
export async function listClients(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { terminal } = cli;
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
  if (json) {
    terminal.out(JSON.stringify(rows));
    return;
  }
  const shown = rows.filter(({ found, agent }) => found !== null || agent !== null);
  const { colours, width } = terminal;
  const path = (each: string | null): string => (each === null ? '-' : shownPath(at, each));
  const columns = [
    { title: 'CLIENT', text: (row: ClientRow) => row.client, paint: colours.bold },
    { title: 'FOUND', text: ({ found }: ClientRow) => path(found) },
    { title: 'CONNECTED AS', text: ({ agent }: ClientRow) => agent ?? '-' },
    { title: 'IN', text: ({ file }: ClientRow) => path(file) },
  ];
  if (shown.length > 0) for (const line of renderTable(shown, columns, { colours, width })) terminal.out(line);
  else terminal.err(`No client was found. Known clients: ${rows.map(({ client }) => client).join(', ')}.`);
  const next = shown.find(({ agent }) => agent === null) ?? shown[0];
  terminal.err(`Connect one: ${nextCommand(cli, workspace, `connect ${next?.client ?? 'CLIENT'} --agent NAME`)}`);
}
