import { closeSync, readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { errnoOf, type GuardedFolder, HubError, openGuardedFolder } from '../base/index.ts';
import { parseYaml } from './files/parse-yaml.ts';
import { cannotRead, isInside, type SourceText, sourceText } from './files/source-file.ts';
import { toPlain } from './files/source-tree.ts';

/** Settings of the person who runs the hub, for all workspaces. */
export interface UserSettings {
  /** The file, whether it exists or not. Undefined: there is no home folder. */
  readonly file: string | undefined;
  /** Folders whose repositories are trusted without a question. */
  readonly trustPaths: readonly string[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** `quartermaster/config.yaml` in the XDG configuration folder. */
export function userSettingsFile(env: Env): string | undefined {
  const { XDG_CONFIG_HOME: xdg, HOME: home } = env;
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'quartermaster', 'config.yaml');
  return home !== undefined && isAbsolute(home) ? join(home, '.config', 'quartermaster', 'config.yaml') : undefined;
}

/** Throws if the file cannot be used: a setting that is not understood must not be guessed. */
export async function readUserSettings(env: Env): Promise<UserSettings> {
  const file = userSettingsFile(env);
  const source = file === undefined ? undefined : readOwnFile(file);
  if (file === undefined || source === undefined || source.kind === 'absent') return { file, trustPaths: [] };
  if (source.kind === 'unreadable') throw wrong(file, source.message, source.fix);
  const parsed = parseYaml(source.text);
  if (parsed.kind === 'broken') throw wrong(file, `cannot be parsed at line ${parsed.line}`, 'Correct it.');
  const settings = settingsSchema.safeParse(toPlain(parsed.root) ?? {});
  if (!settings.success) {
    const [issue] = settings.error.issues;
    throw wrong(file, `is invalid: ${issue?.path.join('.') || 'the file'}: ${issue?.message}`, 'Correct it.');
  }
  return { file, trustPaths: settings.data.trust.paths.map((path) => absolute(path, env, file)) };
}

/** Whether a folder lies in one of these. Links are resolved on both sides. */
export async function isBelow(folder: string, paths: readonly string[]): Promise<boolean> {
  const here = await realpath(folder).catch(() => undefined);
  if (here === undefined) return false;
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return real.some((path) => path !== undefined && isInside(path, here));
}

/** Whoever can write the file decides what is trusted: so it must be the user's own, and no link. */
function readOwnFile(file: string): SourceText {
  let folder: GuardedFolder | undefined;
  try {
    folder = openGuardedFolder(dirname(dirname(file)), [basename(dirname(file))]);
    if (folder === undefined) return { kind: 'absent' };
    const fd = folder.open(basename(file), 'read');
    try {
      return sourceText(readFileSync(fd));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof HubError) throw new HubError('CONFIG_INVALID', error.message, { hint: ownFile, cause: error });
    const code = errnoOf(error) ?? 'unknown error';
    return code === 'ENOENT' ? { kind: 'absent' } : cannotRead(code);
  } finally {
    folder?.close();
  }
}

const ownFile =
  'It decides what is trusted. Check what it says, and make it a file that you own and only you can write.';

const settingsSchema = z.strictObject({
  trust: z.strictObject({ paths: z.array(z.string()).default([]) }).default({ paths: [] }),
});

function absolute(path: string, { HOME: home }: Env, file: string): string {
  const full = home !== undefined && (path === '~' || path.startsWith('~/')) ? join(home, path.slice(1)) : path;
  if (isAbsolute(full)) return full;
  throw wrong(file, `is invalid: trust.paths has "${path.slice(0, 200)}"`, 'Write an absolute path, or one with ~/.');
}

function wrong(file: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `${file} ${what}.`, { hint });
}
