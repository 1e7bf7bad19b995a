import { join } from 'node:path';
import { isJsonObject } from '../../base/index.ts';
import { type FileStep, parseText } from '../../workspace-files/index.ts';
import type { Client, ClientContext, ClientEntry, ClientFile } from '../client.ts';
import { configHome, entriesAt, existing, jsonFile, mapAt, sameForm } from '../json-entries.ts';

/**
 * The hub goes into the file in `.opencode`, which overrides all others, in the form of version 1, which version 2 reads
 * too. The hub reads that file as well, so a switch there would turn off the hub's server.
 */
export const opencode: Client = {
  name: 'opencode',
  title: 'OpenCode',
  aliases: ['open-code'],
  files(at) {
    const folder = userFolder(at);
    const user = ['config.json', 'opencode.json', 'opencode.jsonc'].map((name) => join(folder, name));
    const project = ['opencode.json', 'opencode.jsonc'].map((name) => join(at.workspace, name));
    const dot = ['opencode.json', 'opencode.jsonc'].map((name) => join(at.workspace, '.opencode', name));
    return [
      ...[...dot, ...project].map((path) => fileAt(path, 'project')),
      ...[...user, join(at.home, '.opencode', 'opencode.json')].map((path) => fileAt(path, 'user')),
    ];
  },
  places: (at) => [fileAt(localFile(at), 'project'), fileAt(userFile(at), 'user')],
  write(draft) {
    if (draft.kind === 'http') {
      const headers = { Authorization: `Bearer {env:${draft.tokenVariable}}` };
      return { type: 'remote', url: draft.url, oauth: false, headers };
    }
    const { command, args, env } = draft;
    const environment = Object.keys(env).length === 0 ? {} : { environment: env };
    return { type: 'local', command: [command, ...args], ...environment };
  },
  switchOff({ path, scope }, entry) {
    if (scope === 'project') return { kind: 'move' };
    const isSecond = entry.path[1] === 'servers' && entry.path.length > 2;
    const step: FileStep = isSecond
      ? { kind: 'put', path: [...entry.path, 'disabled'], value: true }
      : { kind: 'put', path: [...entry.path, 'enabled'], value: false };
    return { kind: 'setting', path, dialect: 'jsonc', steps: [step], reach: 'everywhere' };
  },
  isOff: ({ enabled, disabled }) => enabled === false || disabled === true,
  traces: (at) => [userFolder(at), join(at.home, '.local', 'share', 'opencode')],
  restart: 'Start OpenCode again; `opencode mcp list` lists its servers.',
};

function userFolder(at: ClientContext): string {
  return join(configHome(at), 'opencode');
}

function userFile(at: ClientContext): string {
  const folder = userFolder(at);
  return existing(at, join(folder, 'opencode.json'), join(folder, 'opencode.jsonc'));
}

function localFile(at: ClientContext): string {
  const folder = join(at.workspace, '.opencode');
  return existing(at, join(folder, 'opencode.json'), join(folder, 'opencode.jsonc'));
}

function fileAt(path: string, scope: ClientFile['scope']): ClientFile {
  return { ...jsonFile({ path, scope }, ['mcp'], sameForm('opencode.json')), entries: entriesIn };
}

/** Version 2 has its servers in `mcp.servers`, unless that is a server of this name. */
function entriesIn(text: string): readonly ClientEntry[] {
  const content = parseText(text, 'jsonc');
  const all = entriesAt(content, ['mcp']);
  const inner = mapAt(content, ['mcp', 'servers']) ?? {};
  const isHolder = Object.values(inner).every((value) => isJsonObject(value));
  if (!isHolder) return all;
  return [...all.filter(({ key }) => key !== 'servers'), ...entriesAt(content, ['mcp', 'servers'])];
}
