import { join } from 'node:path';
import { parseText } from '../../workspace-files/index.ts';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { jsonFile, mapAt, programEntry, sameForm } from '../json-entries.ts';

/** It starts only in folders that the user trusts, so it always reads the file of a project. */
export const gemini: Client = {
  name: 'gemini',
  title: 'Gemini CLI',
  aliases: ['gemini-cli'],
  files: settingsFiles,
  places: settingsFiles,
  write(draft) {
    if (draft.kind === 'stdio') return programEntry(draft);
    return { httpUrl: draft.url, headers: { Authorization: `Bearer \${${draft.tokenVariable}}` } };
  },
  /** A list of allowed servers, in either file, has to name the hub. */
  admit(name, at, textOf) {
    return settingsFiles(at).flatMap(({ path, dialect }) => {
      const settings = mapAt(parseText(textOf(path) ?? '', dialect), ['mcp']);
      if (!Array.isArray(settings?.allowed)) return [];
      return [{ path, dialect, steps: [{ kind: 'include', path: ['mcp', 'allowed'], item: name } as const] }];
    });
  },
  switchOff(_file, { key }, at) {
    // As `gemini mcp disable` writes it: names in lower case, for all projects.
    const steps = [{ kind: 'put', path: [key.toLowerCase().trim(), 'enabled'], value: false } as const];
    const path = join(at.home, '.gemini', 'mcp-server-enablement.json');
    return { kind: 'setting', path, dialect: 'jsonc', steps, reach: 'everywhere' };
  },
  traces: (at) => [join(at.home, '.gemini')],
  restart: 'Start Gemini CLI again; `/mcp` lists its servers.',
};

function settingsFiles({ workspace, home }: ClientContext): readonly ClientFile[] {
  return [fileIn(workspace, 'project'), fileIn(home, 'user')];
}

function fileIn(folder: string, scope: ClientFile['scope']): ClientFile {
  const path = join(folder, '.gemini', 'settings.json');
  return jsonFile({ path, scope }, ['mcpServers'], sameForm('.gemini/settings.json'));
}
