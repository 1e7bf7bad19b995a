import { HubError } from '../../../base/index.ts';
import type {
  Client,
  ClientConnection,
  ClientContext,
  ClientFile,
  ClientScope,
  HubEntry,
} from '../../../clients/index.ts';
import type { LoadedConfiguration, SourceText } from '../../../config/index.ts';
import type { ServerSpec } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { loadWithUses } from '../servers/load-workspace.ts';
import { loadTexts } from '../trust/workspace-trust.ts';
import { choosePlace } from './choose-place.ts';
import { shownPath } from './client-context.ts';
import { entryNames, writtenEntry } from './entry-for-hub.ts';
import { createFileDrafts, type FileDraft, type FileDrafts, isLeftEmpty, refuseBrokenText } from './file-drafts.ts';
import { findDirect } from './find-direct.ts';
import { planSwitch, type SwitchPlan, type SwitchScope } from './plan-switch.ts';
import type { Served } from './served-servers.ts';

export interface ConnectOrder {
  readonly client: Client;
  readonly at: ClientContext;
  readonly agent: string;
  readonly draft: HubEntry;
  readonly scope: ClientScope | undefined;
  /** Leave the client's own entries as they are. */
  readonly keepDirect: boolean;
  /** The connection that is there already. */
  readonly earlier: ClientConnection | undefined;
  readonly served: Served;
}

/** Everything that connecting would change. */
export interface ConnectionPlan {
  readonly order: ConnectOrder;
  readonly entry: string;
  readonly place: ClientFile;
  readonly notes: readonly string[];
  /** Those that the connection changes, also where they are as planned already. */
  readonly files: readonly FileDraft[];
  readonly switches: readonly SwitchPlan[];
}

export async function planConnection(cli: CliContext, order: ConnectOrder): Promise<ConnectionPlan> {
  const { client, at, earlier, draft } = order;
  const drafts = createFileDrafts(cli, at, earlier);
  const unread = await openAll(order, drafts);
  const { place, note } = await choosePlace(cli, { client, at, drafts }, order.scope);
  const entry = chooseName(order, drafts, place);
  const value = writtenEntry(client, draft);
  const put = { ...place, steps: [{ kind: 'put', path: [...place.servers, entry], value } as const] };
  for (const steps of [put, ...(client.admit?.(entry, at, drafts.textOf) ?? [])]) {
    refuseBrokenText(at, await drafts.open(steps.path, steps.dialect));
    if (!(await drafts.take(steps))) throw inTheWay(at, steps.path);
  }
  const switches = order.keepDirect ? [] : await planSwitches(cli, order, drafts, { path: place.path, key: entry });
  const files = drafts.all().filter((file) => file.steps.taken.length > 0 || isChanged(file));
  return { order, entry, place, notes: [...(note === undefined ? [] : [note]), ...unread], files, switches };
}

/** Opens every file that the client reads, and those that an earlier connection changed. Notes the ones that are broken. */
async function openAll({ client, at, earlier }: ConnectOrder, drafts: FileDrafts): Promise<readonly string[]> {
  for (const { path, dialect } of earlier?.files ?? []) refuseBrokenText(at, await drafts.open(path, dialect));
  const notes: string[] = [];
  for (const { path, dialect } of [...client.files(at), ...client.places(at)]) {
    const file = await drafts.open(path, dialect);
    try {
      refuseBrokenText(at, file);
    } catch (error) {
      // It matters only where the command has to write it.
      if (error instanceof HubError) notes.push(`${error.message} Its servers were not looked at.`);
      else throw error;
    }
  }
  return [...new Set(notes)];
}

/** The name that the connection has already, else one that nothing else has. */
function chooseName({ at, earlier }: ConnectOrder, drafts: FileDrafts, place: ClientFile): string {
  const taken = new Set(place.entries(drafts.textOf(place.path) ?? '').map(({ key }) => key));
  const names = entryNames(at.workspace, place.scope === 'user');
  const kept = earlier !== undefined && earlier.file === place.path ? [earlier.entry] : [];
  const free = [...kept, ...names].find((name) => !taken.has(name));
  if (free !== undefined) return free;
  throw new HubError('USAGE', `${shownPath(at, place.path)} has too many entries for hubs.`, {
    hint: 'Remove those that you do not need.',
  });
}

async function planSwitches(
  cli: CliContext,
  { client, at, served }: ConnectOrder,
  drafts: FileDrafts,
  own: { readonly path: string; readonly key: string },
): Promise<readonly SwitchPlan[]> {
  const load = (): Promise<LoadedConfiguration> => loadWithUses(cli, at.workspace, undefined, plannedTexts(at, drafts));
  const loaded = await load();
  const specs = [...loaded.configuration.servers.values()].flatMap((server): ServerSpec[] =>
    server.kind === 'ready' && served.servers.has(server.spec.name) ? [server.spec] : [],
  );
  const direct = await findDirect({
    client,
    at,
    served: specs,
    unserved: served.unserved,
    own,
    textOf: drafts.textOf,
    load: async ({ file, text }) =>
      (await loadTexts(cli, at.workspace, new Map([[file, { kind: 'text', text }]]))).configuration,
  });
  const scope: SwitchScope = { client, at, drafts, loaded, reload: load };
  const plans: SwitchPlan[] = [];
  for (const each of direct) {
    const plan = await planSwitch(scope, each);
    if (plan !== undefined) plans.push(plan);
  }
  return plans;
}

/** The planned texts of files in the workspace, in place of what is on disk. */
function plannedTexts({ workspace }: ClientContext, drafts: FileDrafts): ReadonlyMap<string, SourceText> {
  return new Map(
    drafts.all().flatMap((file): [string, SourceText][] => {
      if (!file.path.startsWith(`${workspace}/`) || !isChanged(file)) return [];
      const name = file.path.slice(workspace.length + 1);
      return [[name, isLeftEmpty(file) ? { kind: 'absent' } : { kind: 'text', text: file.steps.after }]];
    }),
  );
}

/** Whether the file would not be as it is on disk. */
export function isChanged(file: FileDraft): boolean {
  return isLeftEmpty(file) ? file.onDisk !== undefined : file.onDisk !== file.steps.after;
}

function inTheWay(at: ClientContext, path: string): HubError {
  return new HubError('CONFIG_INVALID', `${shownPath(at, path)} has a form that this command cannot edit.`, {
    hint: 'Nothing was written. `--print` shows the entry, to be added with an editor.',
  });
}
