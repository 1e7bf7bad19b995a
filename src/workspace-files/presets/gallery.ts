import { sourceFolder, targetFolder } from '../plan-sync.ts';
import { gitHub, notion, supabase } from './hosted.ts';
import { fetchPages, fileSystem, git, memory, obsidian, pgReadonly } from './local.ts';
import { azureDevOps, confluence, discord, linear, mongoDb, playwright, slack, trello } from './patterns.ts';
import type { Preset } from './preset.ts';

/** In the order of the list that people see. */
export const presets: readonly Preset[] = [
  ...[fileSystem, git, memory, fetchPages, pgReadonly, notion, supabase, gitHub, obsidian],
  ...[trello, azureDevOps, linear, mongoDb, slack, discord, confluence, playwright],
];

/** What `qm bootstrap` writes when nobody names any. */
export const defaultPresets: readonly string[] = ['notion', 'supabase', 'github', 'obsidian'];

/** The program that has to be on the machine for it; undefined where none has. */
export function programOf({ transport }: Preset): string | undefined {
  return transport.type === 'stdio' ? transport.command : undefined;
}

/** The preset that a server of the workspace was written from, by the file that `qm bootstrap` or `qm sync` made. */
export function presetBehind(server: string, file: string): Preset | undefined {
  const isOurs = file === `${sourceFolder}/${server}.yaml` || file === `${targetFolder}/${server}.json`;
  return isOurs ? presets.find(({ id }) => id === server) : undefined;
}
