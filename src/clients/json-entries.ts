import { join } from 'node:path';
import { isJsonObject } from '../base/index.ts';
import { type KeyPath, type Plain, parseText } from '../workspace-files/index.ts';
import type { ClientContext, ClientEntry, ClientFile, HubEntry, ProjectText } from './client.ts';

/** A file of JSON whose servers have the form of a file in a project. */
export function jsonFile(
  place: Pick<ClientFile, 'path' | 'scope'>,
  servers: KeyPath,
  readAs: ClientFile['readAs'],
): ClientFile {
  return {
    ...place,
    dialect: 'jsonc',
    servers,
    readAs,
    entries: (text) => entriesAt(parseText(text, 'jsonc'), servers),
  };
}

/** The maps in the map at a path. */
export function entriesAt(content: unknown, path: KeyPath): readonly ClientEntry[] {
  const map = mapAt(content, path);
  return Object.entries(map ?? {}).flatMap(([key, value]) =>
    isJsonObject(value) ? [{ key, path: [...path, key] }] : [],
  );
}

export function mapAt(content: unknown, path: KeyPath): Readonly<Record<string, unknown>> | undefined {
  let here = content;
  for (const key of path) here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined;
  return isJsonObject(here) ? here : undefined;
}

/** The text has the form of that file as it is. */
export function sameForm(file: string): ClientFile['readAs'] {
  return (text) => ({ file, text });
}

/** The servers at that path, in the form of `.mcp.json`. */
export function asMcpJson(
  servers: KeyPath,
  convert: (entry: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> = (entry) => entry,
): ClientFile['readAs'] {
  return (text): ProjectText | undefined => {
    const map = mapAt(parseText(text, 'jsonc'), servers);
    if (map === undefined) return undefined;
    const entries = Object.entries(map).map(([key, entry]) => [key, isJsonObject(entry) ? convert(entry) : entry]);
    return { file: '.mcp.json', text: JSON.stringify({ mcpServers: Object.fromEntries(entries) }) };
  };
}

/** `command`, `args` and, if there are any, `env`. */
export function programEntry({ command, args, env }: HubEntry & { readonly kind: 'stdio' }): Record<string, Plain> {
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}

/** The folder for settings of a user's programs. */
export function configHome({ env, home }: Pick<ClientContext, 'env' | 'home'>): string {
  const { XDG_CONFIG_HOME: xdg } = env;
  return xdg?.startsWith('/') === true ? xdg : join(home, '.config');
}

/** The first that exists, else the first. */
export function existing(at: Pick<ClientContext, 'exists'>, ...paths: readonly [string, ...string[]]): string {
  return paths.find((path) => at.exists(path)) ?? paths[0];
}
