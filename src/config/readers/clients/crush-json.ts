// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, type SourceNode } from '../../files/source-tree.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { completeLimits } from '../../servers/server-draft.ts';
import { textsAt } from '../../texts.ts';
import { bareShellGrammar, type ParsedTemplate } from '../../variables/interpolation.ts';
import type { FileOutcome, Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, spoilAll } from './client-file.ts';

/** Crush's project settings, which include the servers. Other programs may have a file of this name. */
export const crushFiles: readonly Reader[] = ['.crush.json', 'crush.json'].map((file) => ({
  place: { file },
  grammar: crushGrammar,
  workspaceNames: [],
  restricts: false,
  mayBeOurs: (text) => /"mcp"\s*:/.test(text),
  parse: parseJsonc,
  read,
}));

/**
 * Crush runs `$(…)` in a shell. The hub does not, except for what its documentation shows: `$(echo Bearer $TOKEN)` is the
 * text after `echo`.
 */
function crushGrammar(text: string): ParsedTemplate {
  const echoed = /^\$\(echo ([^()`'"\\;|&<>]*)\)$/.exec(text)?.[1];
  if (echoed !== undefined) return bareShellGrammar(echoed.trim());
  if (!text.includes('$(')) return bareShellGrammar(text);
  return { kind: 'fault', message: 'a "$(…)" is a command that only Crush runs', fix: 'Write a variable: $NAME.' };
}

function read(root: SourceNode, file: string): FileOutcome {
  const disabled = entryOf(child(root, 'options'), 'disabled_tools');
  const isList = disabled === undefined || disabled.value.kind === 'list';
  const readResult = readClientFile(root, file, createFormat(textsAt(child(root, 'options'), 'disabled_tools') ?? []));
  if (readResult.kind !== 'read' || isList) return readResult;
  const message = '"options.disabled_tools" must be a list of names.';
  const finding = { severity: 'error', line: disabled.line, message, fix: 'Write ["name", …].' } as const;
  return { kind: 'read', content: { ...readResult.content, servers: spoilAll(readResult.content.servers, [finding]) } };
}

function createFormat(disabled: readonly string[]): ClientFormat {
  return {
    client: 'Crush',
    key: 'mcp',
    others: 'settings',
    servers: {
      schema: z.strictObject({
        ...looseServerShape,
        // How long Crush waits for the connection.
        timeout: ignored,
        sessionless: ignored,
        oauth: ignored,
        oauth_client_id: ignored,
        oauth_client_secret: ignored,
        oauth_callback_port: ignored,
        channel_enabled: ignored,
        channel_reply: ignored,
      }),
      guards: ['disabled', 'disabled_tools', 'enabled_tools'],
      readBody(node, findings, place) {
        const { tools, ...body } = readClientBody(node, findings, place);
        const prefix = `mcp_${place.field.slice('mcp.'.length)}_`;
        const exclude = disabled.map((tool) => (tool.startsWith(prefix) ? tool.slice(prefix.length) : tool));
        return {
          ...body,
          limits: completeLimits({}),
          tools: { ...tools, ...(exclude.length === 0 ? {} : { exclude }) },
        };
      },
    },
  };
}
