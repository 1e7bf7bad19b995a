import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfiguration } from '../../../config/index.ts';
import { placeOf } from '../../../domain/index.ts';
import {
  choosePresets,
  defaultPresets,
  fileFailure,
  isEmitted,
  openFile,
  type PresetFile,
  planPresets,
  readFolder,
  refuseLinks,
  replaceAll,
  sourceFolder,
  targetFolder,
} from '../../../workspace-files/index.ts';
import { onRecord } from '../acts/operator-log.ts';
import type { CliContext } from '../context.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import { unknownPresets } from './add-order.ts';
import { withConfigLock } from './config-change.ts';

export interface WrittenPresets {
  readonly files: readonly PresetFile[];
  /** False: some files are in the way, and nothing was written. */
  readonly written: boolean;
}

/** Writes all files or none. */
export async function writePresets(
  cli: CliContext,
  workspace: string,
  ids: readonly string[],
  force: boolean,
): Promise<WrittenPresets> {
  const chosen = choosePresets(ids.length === 0 ? defaultPresets : ids);
  if (chosen.kind === 'unknown') {
    throw unknownPresets(chosen.ids);
  }
  return withConfigLock(cli, workspace, async () => {
    const approval = await beforeWriting(cli, workspace);
    const files = planPresets(chosen.presets, await readFolder(workspace, sourceFolder, ['.yaml']));
    if (files.some(({ state }) => state === 'link' || (state === 'differs' && !force)))
      return { files, written: false };
    const changing = files.filter(({ state }) => state !== 'unchanged');
    await refuseLinks(workspace, sourceFolder);
    if (changing.length > 0) await makeFolder(workspace);
    const changes = changing.map(async ({ file, text }) => {
      const opened = await openFile(cli, join(workspace, file), file);
      approval.refuseOther(file, opened.text);
      return { file: opened, text };
    });
    const acts = changing.map(({ file, preset }) => {
      return { what: 'server.added', subject: preset.id, detail: `in ${file}` } as const;
    });
    const drafts = await Promise.all(changes);
    await onRecord(cli, workspace, acts, () => replaceAll(drafts));
    const texts = new Map(changing.map(({ file, text }) => [file, text]));
    await approval.approve(
      texts,
      changing.map(({ preset }) => preset.id),
    );
    return { files, written: true };
  });
}

/** Finds files that override the written ones. Those made by sync can be made again; others are somebody's choice. */
export async function findHiders(
  { env }: CliContext,
  workspace: string,
  files: readonly PresetFile[],
): Promise<{ readonly needSync: boolean; readonly hidden: readonly { readonly file: string; readonly by: string }[] }> {
  const [configuration, made] = await Promise.all([
    loadConfiguration({ env }, { workspace }),
    readFolder(workspace, targetFolder, ['.json']),
  ]);
  const synced = new Set(made.filter(({ text }) => isEmitted(text)).map(({ file }) => file));
  const winners = files.flatMap(({ file, preset }) => {
    const server = configuration.servers.get(preset.id);
    if (server === undefined) return [];
    const { source } = server.kind === 'ready' ? server.spec : server;
    return source.file === file ? [] : [{ file, source }];
  });
  return {
    needSync: winners.some(({ source }) => synced.has(source.file)),
    hidden: winners
      .filter(({ source }) => !synced.has(source.file))
      .map(({ file, source }) => ({ file, by: placeOf(source) })),
  };
}

async function makeFolder(workspace: string): Promise<void> {
  try {
    await mkdir(join(workspace, sourceFolder), { recursive: true });
  } catch (error) {
    throw fileFailure(error, 'make', sourceFolder);
  }
}
