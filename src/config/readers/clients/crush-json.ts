// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { z } from 'zod';
import type { PolicyRule } from '../../../domain/index.ts';
import { findRepeats } from '../../files/find-repeats.ts';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, type SourceNode } from '../../files/source-tree.ts';
import type { Finding } from '../../findings.ts';
import { looksRestrictive, restrictionRole } from '../../restrictions/restriction-words.ts';
import { createRulesWithPrefix, mostEntries } from '../../restrictions/rules-with-prefix.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { completeLimits } from '../../servers/server-draft.ts';
import { bareShellGrammar, type ParsedTemplate } from '../../variables/interpolation.ts';
import type { FileOutcome, Nearby, Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, lostFinding, readClientFile, spoilAll } from './client-file.ts';

const files = ['.crush.json', 'crush.json'];

/** Crush's project settings, which include the servers. Other programs may have a file of this name. */
export const crushFiles: readonly Reader[] = files.map((file) => ({
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

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<FileOutcome> {
  const findings: Finding[] = [];
  const rules = [...readDisabledTools(root, file, findings), ...(await readBeside(file, nearby, findings))];
  const readResult = readClientFile(root, file, createFormat(rules));
  if (readResult.kind !== 'read') return readResult;
  return { kind: 'read', content: { ...readResult.content, servers: spoilAll(readResult.content.servers, findings) } };
}

/** Crush merges its files, so the restrictions of each apply to the servers of both. */
async function readBeside(file: string, nearby: Nearby, findings: Finding[]): Promise<readonly PolicyRule[]> {
  const other = files.find((each) => each !== file) ?? file;
  const source = await nearby(other);
  if (source.kind === 'absent') return [];
  const parsed = source.kind === 'text' ? parseJsonc(source.text) : undefined;
  const found: Finding[] = [];
  const rules = parsed?.kind === 'tree' ? readDisabledTools(parsed.root, other, found) : [];
  if (parsed?.kind !== 'tree')
    found.push({ severity: 'error', message: 'it cannot be read.', fix: `Correct ${other}.` });
  findings.push(...found.map((each) => ({ ...each, line: undefined, message: `${other}: ${each.message}` })));
  return rules;
}

/** `options.disabled_tools`: names of tools, as the server or as Crush calls them. */
function readDisabledTools(root: SourceNode, file: string, findings: Finding[]): readonly PolicyRule[] {
  findings.push(...findRepeats(root, [['options', 'disabled_tools'], ['permissions']]), ...findUnclear(root));
  const disabled = entryOf(child(root, 'options'), 'disabled_tools');
  if (disabled === undefined) return [];
  const items = disabled.value.kind === 'list' ? disabled.value.items : [];
  const rules = items.flatMap((item): PolicyRule[] =>
    item.kind === 'scalar' ? [{ pattern: item.text, effect: 'deny', source: { file, line: item.line } }] : [],
  );
  if (disabled.value.kind !== 'list' || rules.length < items.length || items.length > mostEntries) {
    const message = `"options.disabled_tools" must be a list of at most ${mostEntries} names.`;
    findings.push({ severity: 'error', line: disabled.line, message, fix: 'Write ["name", …].' });
  }
  return rules;
}

/** `permissions.allowed_tools` only skips confirmations. */
function findUnclear(root: SourceNode): readonly Finding[] {
  const lostIn = (section: string, isLost: (key: string) => boolean): readonly Finding[] => {
    const node = child(root, section);
    const entries = node?.kind === 'map' ? node.entries : [];
    return entries.filter(({ key }) => isLost(key)).map((entry) => lostFinding(entry, section));
  };
  return [
    ...lostIn('options', (key) => key !== 'disabled_tools' && restrictionRole(key) === 'exclude'),
    ...lostIn('permissions', (key) => key !== 'allowed_tools' && looksRestrictive(key)),
  ];
}

function createFormat(disabled: readonly PolicyRule[]): ClientFormat {
  const rulesFor = createRulesWithPrefix({ rules: disabled });
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
        const body = readClientBody(node, findings, place);
        const prefixes = ['', `mcp_${place.field.slice('mcp.'.length)}_`];
        const rules = prefixes.flatMap((prefix) => rulesFor(prefix) ?? []);
        return { ...body, limits: completeLimits({}), ...(rules.length === 0 ? {} : { rules }) };
      },
    },
  };
}
