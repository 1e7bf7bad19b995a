import { sourceFolder } from './plan-sync.ts';
import { presets } from './presets/gallery.ts';
import type { Preset } from './presets/preset.ts';
import { presetText } from './presets/preset-file.ts';
import type { FolderFile } from './read-folder.ts';

export interface PresetFile {
  readonly preset: Preset;
  readonly file: string;
  readonly text: string;
  /** A file that differs is replaced only on request; a link to something else never is. */
  readonly state: 'new' | 'unchanged' | 'differs' | 'link';
}

export type ChosenPresets =
  | { readonly kind: 'chosen'; readonly presets: readonly Preset[] }
  | { readonly kind: 'unknown'; readonly ids: readonly string[] };

export function choosePresets(ids: readonly string[]): ChosenPresets {
  const byId = new Map(presets.map((preset) => [preset.id, preset]));
  const unknown = ids.filter((id) => !byId.has(id));
  if (unknown.length > 0) return { kind: 'unknown', ids: unknown };
  return { kind: 'chosen', presets: [...new Set(ids)].flatMap((id) => byId.get(id) ?? []) };
}

export function planPresets(chosen: readonly Preset[], existing: readonly FolderFile[]): PresetFile[] {
  return chosen.map((preset) => {
    const file = `${sourceFolder}/${preset.id}.yaml`;
    const text = presetText(preset);
    const found = existing.find((each) => each.file === file);
    return { preset, file, text, state: stateOf(text, found) };
  });
}

/** Ignores line endings and a missing final newline. */
function stateOf(text: string, found: FolderFile | undefined): PresetFile['state'] {
  if (found === undefined) return 'new';
  if (found.text.replaceAll('\r\n', '\n').trimEnd() === text.trimEnd()) return 'unchanged';
  return found.isLink ? 'link' : 'differs';
}
