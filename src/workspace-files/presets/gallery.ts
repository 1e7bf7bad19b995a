import { sourceFolder, targetFolder } from '../plan-sync.ts';
import { gitHub, notion, supabase } from './hosted.ts';
import { fetchPreset, fileSystem, gitPreset, memory, obsidian, pgReadonlyPreset } from './local.ts';
import { azureDevOps, confluence, discord, linear, mongoDb, playwright, slack, trello } from './patterns.ts';
import type { Preset } from './preset.ts';

/** In display order. */
export const presets: readonly Preset[] = [
  ...[fileSystem, gitPreset, memory, fetchPreset, pgReadonlyPreset, notion, supabase, gitHub, obsidian],
  ...[trello, azureDevOps, linear, mongoDb, slack, discord, confluence, playwright],
];

/** The presets `qm bootstrap` writes by default. */
export const defaultPresets: readonly string[] = ['notion', 'supabase', 'github', 'obsidian'];

/** The program that must be installed on the machine, if any. */
export function programOf({ transport }: Preset): string | undefined {
  return transport.type === 'stdio' ? transport.command : undefined;
}

/** The preset a server was created from, judged by the file that `qm bootstrap` or `qm sync` writes. */
export function presetBehind(server: string, file: string): Preset | undefined {
  const isOurs = file === `${sourceFolder}/${server}.yaml` || file === `${targetFolder}/${server}.json`;
  return isOurs ? presets.find(({ id }) => id === server) : undefined;
}
