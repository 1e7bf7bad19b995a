export { type OpenedFile, openFile, replaceAll } from './change-file.ts';
export { emitServer, emittedFrom, isEmitted } from './emit-server.ts';
export { fileFailure } from './file-failure.ts';
export { makeFolder } from './make-folder.ts';
export { firstConfigFile, newConfigFile } from './new-config-file.ts';
export { firstCall, newServerFiles } from './new-server-files.ts';
export { choosePresets, type PresetFile, planPresets } from './plan-presets.ts';
export { type Obstacle, planSync, type SyncPlan, sourceFolder, targetFolder } from './plan-sync.ts';
export { defaultPresets, presetBehind, presets, programOf } from './presets/gallery.ts';
export type { Preset } from './presets/preset.ts';
export { presetServer } from './presets/preset-file.ts';
export { suggestRoutes } from './presets/suggest-routes.ts';
export { type FolderFile, readFolder } from './read-folder.ts';
export { refuseLinks } from './refuse-links.ts';
export { type RoleEntry, roleTable } from './role-table.ts';
export type {
  FileStep,
  KeyPath,
  TakenSteps,
} from './steps/file-step.ts';
export { takeSteps } from './steps/take-steps.ts';
export { undoSteps } from './steps/undo-steps.ts';
export { appendItem, type Edited, putMember, setFlag } from './text/edit-text.ts';
export { openTree, parseText } from './text/open-tree.ts';
export type { Plain } from './text/render-member.ts';
export { replacePart, type TextPlace } from './text/replace-text.ts';
export { type Dialect, findTextMember, flagOf, type TextTree } from './text/text-tree.ts';
