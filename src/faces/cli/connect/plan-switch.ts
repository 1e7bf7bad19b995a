import { join } from 'node:path';
import type { ClientContext, SwitchedEntry } from '../../../clients/index.ts';
import type { LoadedConfiguration } from '../../../config/index.ts';
import { type FileStep, takeSteps } from '../../../workspace-files/index.ts';
import { isSameServers } from '../servers/same-servers.ts';
import type { FileDrafts } from './file-drafts.ts';
import type { DirectEntry, DirectScope } from './find-direct.ts';
import { movedEntry } from './moved-entry.ts';

/** What becomes of an entry for a server of the hub. */
export type SwitchPlan =
  | ({ readonly kind: 'off' } & SwitchedEntry & { readonly everywhere: boolean; readonly direct: DirectEntry })
  /** It stays, for that reason. */
  | { readonly kind: 'left'; readonly why: string; readonly direct: DirectEntry };

export interface SwitchScope extends Pick<DirectScope, 'client' | 'at'> {
  readonly drafts: FileDrafts;
  /** The configuration of the hub before any of this. */
  readonly loaded: LoadedConfiguration;
  /** The same with the planned texts. */
  reload(): Promise<LoadedConfiguration>;
}

const own = 'quartermaster.yaml';

/** Plans how the client stops using the entry; undefined if it does not use it already. */
export async function planSwitch(scope: SwitchScope, direct: DirectEntry): Promise<SwitchPlan | undefined> {
  const { client, at, drafts } = scope;
  const { file, entry, server, unserved } = direct;
  const order = client.switchOff(file, entry, at);
  const done = (how: SwitchedEntry['how'], everywhere: boolean): SwitchPlan => {
    return { kind: 'off', server, key: entry.key, file: file.path, how, everywhere, direct };
  };
  const left = (why: string): SwitchPlan => ({ kind: 'left', why, direct });
  if (order.kind === 'none') return left(order.why);
  if (order.kind === 'setting') {
    if (await isSwitchedOff(scope, direct)) return undefined;
    if (!(await drafts.take(order))) return left('the file of the setting cannot be edited');
    return done('setting', order.reach === 'everywhere');
  }
  // The entry may be all that there is of the server, and the hub would not serve it anywhere else either.
  if (unserved !== undefined) return left(`the hub does not serve it: ${unserved}`);
  const goBack = drafts.mark();
  const isTaken = await drafts.take({ ...file, steps: [{ kind: 'remove', path: entry.path }] });
  if (!isTaken) return left('it is written in a form that cannot be edited');
  if (order.kind === 'remove') return done('removed', true);
  if (isSameServers(scope.loaded.configuration, (await scope.reload()).configuration)) return done('removed', false);
  const why = await moveIn(scope, server);
  if (why === undefined) return done('moved', false);
  goBack();
  return left(why);
}

/** The entries that the client stops using. */
export function switchedEntries(plans: readonly SwitchPlan[]): readonly SwitchedEntry[] {
  return plans.flatMap((each) => {
    if (each.kind !== 'off') return [];
    const { server, key, file, how } = each;
    return [{ server, key, file, how }];
  });
}

/** Whether a setting of the client keeps it from using the entry. */
export async function isSwitchedOff(
  { client, at, drafts }: Pick<SwitchScope, 'client' | 'at' | 'drafts'>,
  { file, entry }: DirectEntry,
): Promise<boolean> {
  const order = client.switchOff(file, entry, at);
  if (order.kind !== 'setting') return false;
  const { steps } = await drafts.open(order.path, order.dialect);
  const outcome = takeSteps(steps.after, order.dialect, order.steps);
  return outcome.kind === 'taken' && outcome.taken.length === 0;
}

/** Writes the server into our own file. Returns the reason if that would not be the same server. */
async function moveIn({ at, drafts, loaded, reload }: SwitchScope, name: string): Promise<string | undefined> {
  const [server, plan] = [loaded.configuration.servers.get(name), loaded.plans.get(name)];
  if (loaded.literals.some((literal) => literal.server === name)) {
    return `it contains a secret; run \`qm secret move ${name}\` first`;
  }
  const entry = server?.kind === 'ready' && plan !== undefined ? movedEntry(plan, server.spec) : undefined;
  if (entry === undefined) return `it cannot be moved to ${own}`;
  const steps = [...(await firstSteps(at, drafts)), { kind: 'put', path: ['servers', name], value: entry } as const];
  const isTaken = await drafts.take({ path: join(at.workspace, own), dialect: 'yaml', steps });
  const isSame = isTaken && isSameServers(loaded.configuration, (await reload()).configuration);
  return isSame ? undefined : `it would not be the same server in ${own}`;
}

/** A new file says which version it has. */
async function firstSteps({ workspace }: ClientContext, drafts: FileDrafts): Promise<readonly FileStep[]> {
  const { steps } = await drafts.open(join(workspace, own), 'yaml');
  return steps.after.trim() === '' ? [{ kind: 'put', path: ['version'], value: 1 }] : [];
}
