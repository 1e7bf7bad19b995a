import { join } from 'node:path';
import { HubError } from '../../base/index.ts';
import { loadFleet } from '../../config/index.ts';
import { type Fleet, type FleetServer, placeOf, type SourceRef } from '../../domain/index.ts';
import {
  type Dialect,
  emitServer,
  emittedFrom,
  findMember,
  flagOf,
  isEmitted,
  type OpenedFile,
  openFile,
  openTree,
  replaceAll,
  setFlag,
  setTomlFlag,
  type TextTree,
} from '../../workspace-files/index.ts';
import { refuseBrokenFile, tryOut, withConfigLock } from './config-change.ts';
import type { CliContext } from './context.ts';

export interface Switched {
  readonly source: SourceRef;
  readonly changed: boolean;
  /** What says so, written or not. */
  readonly files: readonly string[];
  /** As it is loaded afterwards. */
  readonly server: FleetServer;
}

/** Switches a server on or off in the file that it is configured in, where that format has a word for it. */
export async function switchServer(cli: CliContext, workspace: string, name: string, on: boolean): Promise<Switched> {
  return withConfigLock(cli, workspace, async () => {
    const files = new Set<string>();
    let [switched, changed] = [await switchOnce(cli, workspace, { name, on, files }), false];
    // Several files may switch the same server off, and each of them counts.
    for (let more = 0; switched.changed && more < maxFiles; more += 1) {
      changed = true;
      if (!on || switched.server.kind === 'invalid' || switched.server.spec.enabled) break;
      switched = await switchOnce(cli, workspace, { name, on, files });
    }
    return { ...switched, changed, files: [...files] };
  });
}

const maxFiles = 20;

async function switchOnce(
  cli: CliContext,
  workspace: string,
  { name, on, files }: { readonly name: string; readonly on: boolean; readonly files: Set<string> },
): Promise<Omit<Switched, 'files'>> {
  const server = findServer(await loadFleet({ env: cli.env }, { workspace }), name);
  const source = (on && server.kind === 'ready' ? server.spec.disabledBy : undefined) ?? partsOf(server).source;
  files.add(source.file);
  const opened = await openFile(cli, join(workspace, source.file), source.file);
  const order = orderOf(name, on, source, opened.text ?? '');
  const isOn = server.kind === 'ready' ? server.spec.enabled : (writtenState(order.place) ?? !on);
  if (isOn === on) return { source, changed: false, server };
  const origin = emittedFrom(order.text);
  if (origin === undefined) await opened.replace(await findEdit(cli, order));
  else await switchOrigin(cli, workspace, { order, origin, emitted: opened });
  const after = findServer(await loadFleet({ env: cli.env }, { workspace }), name);
  if (origin !== undefined) files.add(origin);
  const where = source === partsOf(server).source ? partsOf(after).source : source;
  return { source: origin === undefined ? where : { file: origin }, changed: true, server: after };
}

/** What `qm sync` made is changed where it was made from, and made again. */
async function switchOrigin(
  cli: CliContext,
  workspace: string,
  { order, origin, emitted }: { readonly order: SwitchOrder; readonly origin: string; readonly emitted: OpenedFile },
): Promise<void> {
  const opened = await openFile(cli, join(workspace, origin), origin);
  if (opened.text === undefined) throw cannot(order);
  const text = await findEdit(cli, orderOf(order.name, order.on, { file: origin }, opened.text));
  const made = emitServer({ file: origin, text });
  if (made.kind !== 'server' || made.id !== order.name) throw cannot(order);
  await replaceAll([
    { file: opened, text },
    { file: emitted, text: made.text },
  ]);
}

function orderOf(name: string, on: boolean, source: SourceRef, text: string): SwitchOrder {
  return { name, on, source, text, place: locate(text, name, source) };
}

function findServer(fleet: Fleet, name: string): FleetServer {
  const found = fleet.servers.get(name);
  if (found !== undefined) return found;
  // It may well be in the file that cannot be read.
  refuseBrokenFile(fleet);
  const known = [...fleet.servers.keys()];
  throw new HubError('SERVER_UNKNOWN', `No server is called "${name.slice(0, 80)}".`, {
    hint:
      known.length === 0
        ? 'None is configured here; `qm add` adds one.'
        : `There are ${known.slice(0, 20).join(', ')}.`,
  });
}

function partsOf(server: FleetServer): { readonly source: SourceRef } {
  return server.kind === 'ready' ? server.spec : server;
}

interface Place {
  readonly tree: TextTree;
  readonly path: readonly string[];
}

/** Where the server's own map is; undefined in a file of a kind that is not edited here. */
function locate(text: string, name: string, { file, line }: SourceRef): Place | undefined {
  const dialect = dialectOf(file);
  const opened = dialect === undefined ? undefined : openTree(text, dialect);
  if (opened?.kind !== 'tree') return undefined;
  const { tree } = opened;
  const path = line === undefined ? undefined : findMember(tree, name, line);
  if (path !== undefined) return { tree, path };
  // A file of its own holds the server's map at its top.
  return oneServerFolders.some((folder) => file.startsWith(folder)) ? { tree, path: [] } : undefined;
}

const oneServerFolders = ['.mcp/servers/', 'ops/adk/servers/'];

function dialectOf(file: string): Dialect | undefined {
  if (/\.ya?ml$/.test(file)) return 'yaml';
  return /\.jsonc?$/.test(file) ? 'jsonc' : undefined;
}

/** What the file says of a server that cannot be loaded. */
function writtenState(place: Place | undefined): boolean | undefined {
  if (place === undefined) return undefined;
  const [enabled, disabled] = [flagOf(place.tree, place.path, 'enabled'), flagOf(place.tree, place.path, 'disabled')];
  return enabled !== false && disabled !== true;
}

interface SwitchOrder {
  readonly name: string;
  readonly on: boolean;
  readonly source: SourceRef;
  readonly text: string;
  readonly place: Place | undefined;
}

/** Each format has its own word; the one that its reader understands is the right one. */
async function findEdit(cli: CliContext, order: SwitchOrder): Promise<string> {
  const { name, on, source, text, place } = order;
  const { file } = source;
  if (!isEmitted(text)) {
    for (const next of place === undefined ? tomlCandidates(order) : candidates(place, on)) {
      const fleet = await tryOut(cli.env, [{ file, text: next }]);
      const server = fleet.servers.get(name);
      const broken = fleet.problems.some(({ severity, server: of }) => severity === 'error' && of === undefined);
      // One that was invalid may stay so: what it lacks is another matter.
      const isRight = server?.kind === 'ready' ? server.spec.enabled === on : server !== undefined;
      if (isRight && !broken && !isForeign(fleet, order)) return next;
    }
  }
  throw cannot(order);
}

/** A word that the format does not know is reported by its reader, and its own client may not take it. */
function isForeign(fleet: Fleet, { name }: SwitchOrder): boolean {
  return fleet.problems.some(
    ({ server, field }) => server === name && /(?:^|\.)(?:enabled|disabled)$/.test(field ?? ''),
  );
}

function tomlCandidates({ source: { file, line }, text, on }: SwitchOrder): string[] {
  const edited = file.endsWith('.toml') && line !== undefined ? setTomlFlag(text, line, 'enabled', on) : undefined;
  return edited?.kind === 'edited' ? [edited.text] : [];
}

function candidates({ tree, path }: Place, on: boolean): string[] {
  const { text, dialect } = tree;
  const [enabled, disabled] = [flagOf(tree, path, 'enabled'), flagOf(tree, path, 'disabled')];
  const set = (from: string, key: 'enabled' | 'disabled'): string => {
    const edited = setFlag(from, dialect, path, key, key === 'enabled' ? on : !on);
    return edited.kind === 'edited' ? edited.text : from;
  };
  if (enabled === undefined && disabled === undefined) {
    const [first, second] =
      dialect === 'yaml' ? (['enabled', 'disabled'] as const) : (['disabled', 'enabled'] as const);
    return [set(text, first), set(text, second)];
  }
  const once = enabled === undefined ? text : set(text, 'enabled');
  return [disabled === undefined ? once : set(once, 'disabled')];
}

function cannot({ name, on, source, text }: SwitchOrder): HubError {
  const where = placeOf(source);
  const state = on ? 'on' : 'off';
  if (isEmitted(text)) {
    return new HubError(
      'USAGE',
      `Server ${name} is in ${where}, which \`qm sync\` makes; a switch there would be lost.`,
      {
        hint: 'Its source in ops/adk/servers/ is gone: `qm sync --prune` removes it.',
      },
    );
  }
  return new HubError('USAGE', `Server ${name} is in ${where}, and that format has no word to switch it ${state}.`, {
    hint: on
      ? 'Correct it there with an editor.'
      : `Remove it there, or keep it from agents with a rule: policies: { tools: { "${name}.*": deny } } in quartermaster.yaml.`,
  });
}
