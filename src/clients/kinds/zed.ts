import { join } from 'node:path';
import { isJsonObject } from '../../base/index.ts';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { asMcpJson, configHome, jsonFile, programEntry } from '../json-entries.ts';

/** Its settings have no variables, so a token would have to be in the file. */
export const zed: Client = {
  name: 'zed',
  title: 'Zed',
  aliases: [],
  files: settingsFiles,
  places: settingsFiles,
  write: (draft) => (draft.kind === 'stdio' ? programEntry(draft) : undefined),
  switchOff({ path, scope }, entry) {
    // The hub reads the project's file, so a switch there would turn off the hub's server.
    if (scope === 'project') return { kind: 'move' };
    const steps = [{ kind: 'put', path: [...entry.path, 'enabled'], value: false } as const];
    return { kind: 'setting', path, dialect: 'jsonc', steps, reach: 'everywhere' };
  },
  isOff: ({ enabled }) => enabled === false,
  traces: (at) => [join(configHome(at), 'zed'), join(at.home, '.config', 'zed')],
  restart: 'Zed detects the changed file automatically; the agent panel lists its servers.',
};

function settingsFiles(at: ClientContext): readonly ClientFile[] {
  return [
    fileAt(join(at.workspace, '.zed', 'settings.json'), 'project'),
    fileAt(join(configHome(at), 'zed', 'settings.json'), 'user'),
  ];
}

function fileAt(path: string, scope: ClientFile['scope']): ClientFile {
  return jsonFile({ path, scope }, ['context_servers'], asMcpJson(['context_servers'], flat));
}

/** Older settings have the program as a map: `{ "command": { "path", "args", "env" } }`. */
function flat(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { source: _source, settings: _settings, ...rest } = entry;
  if (!isJsonObject(rest.command)) return rest;
  const { path: command, ...program } = rest.command;
  return { ...rest, ...program, command };
}
