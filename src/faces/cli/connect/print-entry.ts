import { takeSteps } from '../../../workspace-files/index.ts';
import { checkAgent } from '../agents/agent-option.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { choosePlace } from './choose-place.ts';
import { readClientContext, shownPath } from './client-context.ts';
import { pickClient } from './client-list.ts';
import type { ConnectOptions } from './connect-action.ts';
import type { ConnectPrinted } from './connect-shapes.ts';
import { checkTokenVariable, entryForHub, entryNames, writtenEntry } from './entry-for-hub.ts';
import { createFileDrafts } from './file-drafts.ts';

/** `qm connect CLIENT --print`: the entry as it would stand in an empty file. Writes nothing. */
export async function printEntry(
  cli: CliContext,
  invocation: Invocation,
  word: string,
  options: ConnectOptions,
): Promise<void> {
  const { terminal } = cli;
  const client = pickClient(word);
  const agent = checkAgent(options.agent ?? 'NAME');
  const at = await readClientContext(cli, invocation.workspace);
  const drafts = createFileDrafts(cli, at, undefined);
  for (const { path, dialect } of client.files(at)) await drafts.open(path, dialect);
  const { place } = await choosePlace(cli, { client, at, drafts }, options.scope);
  const tokenVariable = checkTokenVariable(options.tokenVariable);
  const draft = await entryForHub(cli, { workspace: at.workspace, agent, http: options.http === true, tokenVariable });
  const [entry] = entryNames(at.workspace, place.scope === 'user');
  const value = writtenEntry(client, draft);
  const outcome = takeSteps('', place.dialect, [{ kind: 'put', path: [...place.servers, entry], value }]);
  const snippet = outcome.kind === 'taken' ? outcome.after : '';
  const answer: ConnectPrinted = { client: client.name, entry, file: place.path, scope: place.scope, snippet };
  if (invocation.json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  terminal.err(`For ${shownPath(at, place.path)}:`);
  terminal.out(snippet.trimEnd());
}
