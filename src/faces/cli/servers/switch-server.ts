import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import {
  affectsAll,
  type Configuration,
  type ConfiguredServer,
  placeOf,
  type SourceRef,
} from '../../../domain/index.ts';
import {
  emitServer,
  emittedFrom,
  flagOf,
  isEmitted,
  type OpenedFile,
  openFile,
  replaceAll,
  setFlag,
} from '../../../workspace-files/index.ts';
import { onRecord } from '../acts/operator-log.ts';
import type { CliContext } from '../context.ts';
import { beforeWriting, type WrittenApproval } from '../trust/approve-written.ts';
import { refuseBrokenFile, tryOut, withConfigLock } from './config-change.ts';
import { loadWorkspace } from './load-workspace.ts';
import { locateServer, type ServerMap } from './locate-server.ts';
import { unknownServer } from './unknown-server.ts';

export interface Switched {
  readonly source: SourceRef;
  readonly changed: boolean;
  /** The files that set the state, changed or not. */
  readonly files: readonly string[];
  /** The server as loaded afterwards. */
  readonly server: ConfiguredServer;
  /** It was changed since it was approved, or never approved, so switching it does not approve it. */
  readonly waits: boolean;
}

/** Switches a server on or off in the file that configures it, if that format has a flag for it. */
export async function switchServer(cli: CliContext, workspace: string, name: string, on: boolean): Promise<Switched> {
  return withConfigLock(cli, workspace, async () => {
    const approval = await beforeWriting(cli, workspace);
    const files = new Set<string>();
    const written = new Map<string, string>();
    const task = { name, on, files, written, approval };
    let [switched, changed] = [await switchOnce(cli, workspace, task), false];
    // Several files may switch the same server off, and each of them counts.
    for (let more = 0; switched.changed && more < maxFiles; more += 1) {
      changed = true;
      if (!on || switched.server.kind !== 'ready' || switched.server.spec.enabled) break;
      switched = await switchOnce(cli, workspace, task);
    }
    const left = changed ? await approval.approve(written, [name]) : [];
    return { ...switched, changed, files: [...files], waits: left.includes(name) };
  });
}

const maxFiles = 20;

interface SwitchTask {
  readonly name: string;
  readonly on: boolean;
  /** Collects the files that set the state. */
  readonly files: Set<string>;
  /** Collects the texts that were written. */
  readonly written: Map<string, string>;
  readonly approval: WrittenApproval;
}

async function switchOnce(
  cli: CliContext,
  workspace: string,
  task: SwitchTask,
): Promise<Omit<Switched, 'files' | 'waits'>> {
  const { name, on, files, written } = task;
  const server = findServer(await loadWorkspace(cli, workspace), name);
  const source = (on && server.kind === 'ready' ? server.spec.disabledBy : undefined) ?? partsOf(server).source;
  files.add(source.file);
  const opened = await openJudged(cli, workspace, source.file, task);
  const order = orderOf(name, on, source, opened.text ?? '');
  const isOn = server.kind === 'ready' ? server.spec.enabled : (writtenState(order.place) ?? !on);
  if (isOn === on) return { source, changed: false, server };
  const origin = emittedFrom(order.text);
  const write =
    origin === undefined
      ? await planSwitch(cli, order, opened, written)
      : await planOrigin(cli, workspace, { ...task, order, origin, emitted: opened });
  const what = on ? 'server.enabled' : 'server.disabled';
  await onRecord(cli, workspace, [{ what, subject: name, detail: `in ${origin ?? source.file}` }], write);
  const after = findServer(await loadWorkspace(cli, workspace), name);
  if (origin !== undefined) files.add(origin);
  const where = source === partsOf(server).source ? partsOf(after).source : source;
  return { source: origin === undefined ? where : { file: origin }, changed: true, server: after };
}

/** A file as it was judged, or as this command wrote it. */
async function openJudged(
  cli: CliContext,
  workspace: string,
  file: string,
  { written, approval }: Pick<SwitchTask, 'written' | 'approval'>,
): Promise<OpenedFile> {
  const opened = await openFile(cli, join(workspace, file), file);
  const own = written.get(file);
  if (own === undefined || own !== opened.text) approval.refuseOther(file, opened.text);
  return opened;
}

type Write = () => Promise<void>;

async function planSwitch(
  cli: CliContext,
  order: SwitchOrder,
  opened: OpenedFile,
  written: Map<string, string>,
): Promise<Write> {
  const text = await findEdit(cli, order);
  return async () => {
    await opened.replace(text);
    written.set(order.source.file, text);
  };
}

/** A file made by `qm sync` is changed at its source and made again. */
async function planOrigin(
  cli: CliContext,
  workspace: string,
  { order, origin, emitted, written, approval }: SwitchOfOrigin,
): Promise<Write> {
  const opened = await openJudged(cli, workspace, origin, { written, approval });
  if (opened.text === undefined) throw cannot(order);
  const text = await findEdit(cli, orderOf(order.name, order.on, { file: origin }, opened.text));
  const made = emitServer({ file: origin, text });
  if (made.kind !== 'server' || made.id !== order.name) throw cannot(order);
  return async () => {
    await replaceAll([
      { file: opened, text },
      { file: emitted, text: made.text },
    ]);
    written.set(origin, text).set(order.source.file, made.text);
  };
}

interface SwitchOfOrigin extends Pick<SwitchTask, 'written' | 'approval'> {
  readonly order: SwitchOrder;
  readonly origin: string;
  readonly emitted: OpenedFile;
}

function orderOf(name: string, on: boolean, source: SourceRef, text: string): SwitchOrder {
  return { name, on, source, text, place: locateServer(text, name, source) };
}

function findServer(configuration: Configuration, name: string): ConfiguredServer {
  const found = configuration.servers.get(name);
  if (found !== undefined) return found;
  // The server may be in the file that cannot be read.
  refuseBrokenFile(configuration);
  throw unknownServer(name, configuration.servers.keys());
}

function partsOf(server: ConfiguredServer): { readonly source: SourceRef } {
  return server.kind === 'ready' ? server.spec : server;
}

/** The written state of a server that cannot be loaded. */
function writtenState(place: ServerMap | undefined): boolean | undefined {
  if (place === undefined) return undefined;
  const [enabled, disabled] = [flagOf(place.tree, place.path, 'enabled'), flagOf(place.tree, place.path, 'disabled')];
  return enabled !== false && disabled !== true;
}

interface SwitchOrder {
  readonly name: string;
  readonly on: boolean;
  readonly source: SourceRef;
  readonly text: string;
  readonly place: ServerMap | undefined;
}

/** Each format has its own flag; the right one is the one its reader understands. */
async function findEdit(cli: CliContext, order: SwitchOrder): Promise<string> {
  const { name, on, source, text, place } = order;
  const { file } = source;
  if (!isEmitted(text)) {
    for (const next of place === undefined ? [] : candidates(place, on)) {
      const configuration = await tryOut(cli.env, [{ file, text: next }]);
      const server = configuration.servers.get(name);
      const broken = configuration.problems.some(affectsAll);
      // A server that was invalid may stay invalid; its missing settings are a separate problem.
      const isRight = server?.kind === 'ready' ? server.spec.enabled === on : server !== undefined;
      if (isRight && !broken && !isForeign(configuration, order)) return next;
    }
  }
  throw cannot(order);
}

/** The reader reports a flag that the format does not know, and the file's own client may reject it. */
function isForeign(configuration: Configuration, { name }: SwitchOrder): boolean {
  return configuration.problems.some(
    ({ server, field }) => server === name && /(?:^|\.)(?:enabled|disabled)$/.test(field ?? ''),
  );
}

function candidates({ tree, path }: ServerMap, on: boolean): string[] {
  const { text, dialect } = tree;
  const [enabled, disabled] = [flagOf(tree, path, 'enabled'), flagOf(tree, path, 'disabled')];
  const set = (from: string, key: 'enabled' | 'disabled'): string => {
    const edited = setFlag(from, dialect, [...path, key], key === 'enabled' ? on : !on);
    return edited.kind === 'edited' ? edited.text : from;
  };
  if (enabled === undefined && disabled === undefined) {
    const [first, second] =
      dialect === 'jsonc' ? (['disabled', 'enabled'] as const) : (['enabled', 'disabled'] as const);
    return [set(text, first), set(text, second)];
  }
  const once = enabled === undefined ? text : set(text, 'enabled');
  return [disabled === undefined ? once : set(once, 'disabled')];
}

function cannot({ name, on, source, text }: SwitchOrder): HubError {
  const where = placeOf(source);
  const state = on ? 'enable' : 'disable';
  if (isEmitted(text)) {
    return new HubError(
      'USAGE',
      `Server ${name} is in ${where}, which \`qm sync\` writes; a change there would be lost.`,
      {
        hint: 'Its source in ops/adk/servers/ is gone: `qm sync --prune` removes it.',
      },
    );
  }
  return new HubError('USAGE', `Server ${name} is in ${where}, and that format has no key to ${state} it.`, {
    hint: on
      ? 'Correct it there with an editor.'
      : `Remove it there, or keep it from agents with a rule: policies: { tools: { "${name}.*": deny } } in quartermaster.yaml.`,
  });
}
