import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../../base/index.ts';
import { loadFleet } from '../../config/index.ts';
import { placeOf } from '../../domain/index.ts';
import {
  choosePresets,
  defaultPresets,
  fileFailure,
  isEmitted,
  openFile,
  type PresetFile,
  planPresets,
  presets,
  readFolder,
  refuseLinks,
  replaceAll,
  sourceFolder,
  targetFolder,
} from '../../workspace-files/index.ts';
import { withConfigLock } from './config-change.ts';
import type { CliContext } from './context.ts';

export interface WrittenPresets {
  readonly files: readonly PresetFile[];
  /** False: some stand in the way, and nothing was written. */
  readonly written: boolean;
}

/** Writes all of them or none. */
export async function writePresets(
  cli: CliContext,
  workspace: string,
  ids: readonly string[],
  force: boolean,
): Promise<WrittenPresets> {
  const chosen = choosePresets(ids.length === 0 ? defaultPresets : ids);
  if (chosen.kind === 'unknown') {
    throw new HubError('USAGE', `There is no preset ${chosen.ids.map((id) => `"${id.slice(0, 80)}"`).join(', ')}.`, {
      hint: `There are ${presets.map(({ id }) => id).join(', ')}.`,
    });
  }
  return withConfigLock(cli, workspace, async () => {
    const files = planPresets(chosen.presets, await readFolder(workspace, sourceFolder, ['.yaml']));
    if (files.some(({ state }) => state === 'link' || (state === 'differs' && !force)))
      return { files, written: false };
    const changing = files.filter(({ state }) => state !== 'unchanged');
    await refuseLinks(workspace, sourceFolder);
    if (changing.length > 0) await makeFolder(workspace);
    const changes = changing.map(async ({ file, text }) => ({
      file: await openFile(cli, join(workspace, file), file),
      text,
    }));
    await replaceAll(await Promise.all(changes));
    return { files, written: true };
  });
}

/** Files that win over what was written: those that sync made can be made again, others are somebody's choice. */
export async function findHiders(
  { env }: CliContext,
  workspace: string,
  files: readonly PresetFile[],
): Promise<{ readonly needSync: boolean; readonly hidden: readonly { readonly file: string; readonly by: string }[] }> {
  const [fleet, made] = await Promise.all([
    loadFleet({ env }, { workspace }),
    readFolder(workspace, targetFolder, ['.json']),
  ]);
  const synced = new Set(made.filter(({ text }) => isEmitted(text)).map(({ file }) => file));
  const winners = files.flatMap(({ file, preset }) => {
    const server = fleet.servers.get(preset.id);
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
