// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { z } from 'zod';
import { parseYaml } from '../../files/parse-yaml.ts';
import { child, entryOf, lineAt, type SourceEntry, type SourceNode } from '../../files/source-tree.ts';
import type { Finding } from '../../findings.ts';
import { looksRestrictive } from '../../restrictions/restriction-words.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { textAt, textsAt } from '../../texts.ts';
import { type Grammar, type ParsedTemplate, shellGrammar, type VariablePart } from '../../variables/interpolation.ts';
import type { FileOutcome, Reader } from '../reader.ts';
import {
  type ClientFormat,
  ignored,
  looseServerShape,
  lostFinding,
  readClientFile,
  spoilAll,
  warning,
} from './client-file.ts';

/** LibreChat's settings, which include the servers. */
export const librechatYaml: Reader = {
  place: { file: 'librechat.yaml' },
  grammar: createGrammar(new Set()),
  workspaceNames: [],
  restricts: false,
  mayBeOurs: (text) => /^["']?mcpServers["']?\s*:/m.test(text),
  parse: parseYaml,
  read,
};

function read(root: SourceNode, file: string): FileOutcome {
  const readResult = readClientFile(root, file, createFormat(root));
  if (readResult.kind !== 'read') return readResult;
  const settings = child(root, 'mcpSettings');
  const lost = (settings?.kind === 'map' ? settings.entries : []).filter(isUnclear);
  const servers = spoilAll(
    readResult.content.servers,
    lost.map((entry) => lostFinding(entry, 'mcpSettings')),
  );
  return { kind: 'read', content: { ...readResult.content, servers, grammar: createGrammar(askedFor(root)) } };
}

function isUnclear({ key, value }: SourceEntry): boolean {
  return key === 'allowedDomains' ? value.kind !== 'list' : looksRestrictive(key);
}

function createFormat(root: SourceNode): ClientFormat {
  const domains = textsAt(child(root, 'mcpSettings'), 'allowedDomains');
  const isForbidden = forbidsUse(child(child(root, 'interface'), 'mcpServers'));
  return {
    client: 'LibreChat',
    key: 'mcpServers',
    others: 'settings',
    servers: {
      schema,
      keys: () => ({ remote: 'sse' }),
      readBody(node, findings, place) {
        if (child(node, 'apiKey') !== undefined || child(node, 'obo') !== undefined) {
          const key = child(node, 'apiKey') === undefined ? 'obo' : 'apiKey';
          const message = `"${key}" is a login of LibreChat that the hub does not support`;
          findings.push(
            warning(place, key, lineAt(node, [key]), message, 'Write the header that the server requires.'),
          );
        }
        const url = textAt(node, 'url');
        if (domains !== undefined && url !== undefined && !isAllowed(url, domains)) {
          const message = 'its address is not in "mcpSettings.allowedDomains"';
          const refused: Finding = warning(place, 'url', lineAt(node, ['url']), message, 'Add the domain there.');
          findings.push({ ...refused, severity: 'error' });
        }
        const body = readClientBody(node, findings, place);
        return { ...body, enabled: body.enabled && !isForbidden };
      },
    },
  };
}

/** `false`, or a map with `use`. Anything else than true forbids. */
function forbidsUse(setting: SourceNode | undefined): boolean {
  if (setting === undefined) return false;
  const flag = setting.kind === 'map' ? child(setting, 'use') : setting;
  return flag !== undefined && (flag.kind !== 'scalar' || flag.value !== true);
}

const schema = z.strictObject({
  ...looseServerShape,
  apiKey: ignored,
  chatMenu: ignored,
  customUserVars: ignored,
  iconPath: ignored,
  initTimeout: ignored,
  oauth: ignored,
  oauth_headers: ignored,
  obo: ignored,
  requiresOAuth: ignored,
  serverInstructions: ignored,
  sseReadTimeout: ignored,
  startup: ignored,
  stderr: ignored,
});

/** `example.com`, `*.example.com`, or with scheme and port, which must agree then. */
function isAllowed(text: string, domains: readonly string[]): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return false;
  return domains.some((domain) => {
    const [, scheme, star, host = '', port] = /^(?:(https?):\/\/)?(\*\.)?([^/:*]+)(?::(\d+))?\/?$/i.exec(domain) ?? [];
    const name = host.toLowerCase();
    if (name === '' || (scheme !== undefined && url.protocol !== `${scheme.toLowerCase()}:`)) return false;
    if (port !== undefined && portOf(url) !== port) return false;
    return star === undefined ? url.hostname === name : url.hostname.endsWith(`.${name}`);
  });
}

function portOf({ port, protocol }: URL): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80';
}

/** What LibreChat asks each of its users for. */
function askedFor(root: SourceNode): ReadonlySet<string> {
  const servers = child(root, 'mcpServers');
  const entries = servers?.kind === 'map' ? servers.entries : [];
  const asked = entries.map(({ value }) => entryOf(value, 'customUserVars')?.value);
  return new Set(asked.flatMap((vars) => (vars?.kind === 'map' ? vars.entries.map(({ key }) => key) : [])));
}

/** `${NAME}`, and `{{NAME}}` for what a person enters: here a stored secret, never the environment. */
function createGrammar(asked: ReadonlySet<string>): Grammar {
  return (text) => {
    const parts: VariablePart[] = [];
    for (const [index, piece] of text.split(/\{\{([^{}]*)\}\}/).entries()) {
      const part: ParsedTemplate = index % 2 === 0 ? shellGrammar(piece) : readPlaceholder(piece.trim(), asked);
      if (part.kind === 'fault') return part;
      parts.push(...part.parts);
    }
    return { kind: 'template', parts };
  };
}

function readPlaceholder(name: string, asked: ReadonlySet<string>): ParsedTemplate {
  if (asked.has(name) && /^[A-Za-z_]\w{0,127}$/.test(name)) {
    return { kind: 'template', parts: [{ kind: 'required', name, from: 'store' }] };
  }
  const form = /^\w{1,80}$/.test(name) ? `"{{${name}}}"` : 'a "{{…}}"';
  return { kind: 'fault', message: `${form} is filled in by LibreChat for each of its users`, fix: 'Write ${NAME}.' };
}
