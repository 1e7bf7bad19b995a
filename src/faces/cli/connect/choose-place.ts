import { HubError } from '../../../base/index.ts';
import type { Client, ClientContext, ClientFile, ClientScope } from '../../../clients/index.ts';
import type { CliContext } from '../context.ts';
import { shownPath } from './client-context.ts';
import type { FileDrafts } from './file-drafts.ts';
import { type GitState, gitStateOf } from './git-state.ts';

export interface ChosenFile {
  readonly place: ClientFile;
  /** Why a better place was not taken, as a sentence. */
  readonly note: string | undefined;
}

/**
 * The narrowest place that works. A file that git tracks is not taken unasked: the entry has paths on this machine, and
 * others would get them.
 */
export async function choosePlace(
  cli: Pick<CliContext, 'env' | 'clock'>,
  { client, at, drafts }: { readonly client: Client; readonly at: ClientContext; readonly drafts: FileDrafts },
  wanted: ClientScope | undefined,
): Promise<ChosenFile> {
  const places = client.places(at);
  const obstacle = (place: ClientFile): string | undefined => client.unusable?.(place, at, drafts.textOf);
  if (wanted !== undefined) return chooseWanted({ client, at }, places, wanted, obstacle);
  let note: string | undefined;
  for (const place of places) {
    const state: GitState = place.scope === 'project' ? await gitStateOf(cli, at.workspace, place.path) : 'outside';
    const why = state === 'tracked' ? 'is tracked by git, and the entry has paths on this machine' : obstacle(place);
    if (why === undefined) return { place, note };
    note ??= `${shownPath(at, place.path)} ${why}.`;
  }
  throw new HubError('USAGE', note ?? `${client.title} has no file for servers.`, {
    hint: 'Choose a place with --scope.',
  });
}

function chooseWanted(
  { client, at }: { readonly client: Client; readonly at: ClientContext },
  places: readonly ClientFile[],
  wanted: ClientScope,
  obstacle: (place: ClientFile) => string | undefined,
): ChosenFile {
  const place = places.find(({ scope }) => scope === wanted);
  if (place === undefined) {
    const scopes = [...new Set(places.map(({ scope }) => scope))].join(', ');
    throw new HubError('USAGE', `${client.title} has no ${wanted} scope that the hub can be written to.`, {
      hint: `Use one of: ${scopes}.`,
    });
  }
  const why = obstacle(place);
  return { place, note: why === undefined ? undefined : `${shownPath(at, place.path)} ${why}.` };
}
