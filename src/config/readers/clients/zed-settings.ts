import { z } from 'zod';
import type { PolicyRule, RuleEffect } from '../../../domain/index.ts';
import { findRepeats } from '../../files/find-repeats.ts';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, type SourceEntry, type SourceNode, sourceMap } from '../../files/source-tree.ts';
import { warnForeignVariables } from '../../files/written-texts.ts';
import { dotted, type Finding, quote } from '../../findings.ts';
import { createRulesWithPrefix, mostEntries } from '../../restrictions/rules-with-prefix.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { millisecondsAt } from '../../servers/read-limits.ts';
import { completeLimits } from '../../servers/server-draft.ts';
import { literalGrammar } from '../../variables/interpolation.ts';
import type { FileOutcome, Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, spoilAll } from './client-file.ts';

/** Zed's project settings, which include the servers. They contain no variables. */
export const zedSettings: Reader = {
  place: { file: '.zed/settings.json' },
  grammar: literalGrammar,
  workspaceNames: [],
  restricts: false,
  writeVariable: (name) => ({ advice: `Move the server into quartermaster.yaml, with \${${name}}` }),
  parse: parseJsonc,
  read,
};

function read(root: SourceNode, file: string): FileOutcome {
  const permissions = readPermissions(root, file);
  const readResult = readClientFile(root, file, createFormat(permissions.rules));
  if (readResult.kind !== 'read') return readResult;
  const fix = (name: string): string => `Move the server into quartermaster.yaml, with \${${name}}.`;
  const drafts = readResult.content.servers.map((draft) => warnForeignVariables(draft, 'Zed', { fix }));
  const servers = spoilAll(drafts, permissions.findings);
  const findings = [...readResult.content.findings, ...extensionNotes(root)];
  return { kind: 'read', content: { ...readResult.content, servers, findings } };
}

function createFormat(rules: readonly PolicyRule[]): ClientFormat {
  const rulesFor = createRulesWithPrefix({ rules });
  return {
    client: 'Zed',
    key: 'context_servers',
    others: 'settings',
    skip: isExtension,
    unpack,
    servers: {
      schema: z.strictObject({
        ...looseServerShape,
        source: ignored,
        remote: ignored,
        settings: ignored,
        oauth: ignored,
      }),
      guards: ['enabled'],
      readBody(node, findings, place) {
        const own = rulesFor(`mcp:${place.field.slice('context_servers.'.length)}:`);
        return {
          ...readClientBody(node, findings, place),
          limits: completeLimits({ timeoutMs: millisecondsAt(node, 'timeout') }),
          ...(own === undefined ? {} : { rules: [own] }),
        };
      },
    },
  };
}

/** A server that an extension of Zed starts, with its settings. */
function isExtension({ value }: SourceEntry): boolean {
  return value.kind === 'map' && child(value, 'command') === undefined && child(value, 'url') === undefined;
}

function extensionNotes(root: SourceNode): Finding[] {
  const section = child(root, 'context_servers');
  return (section?.kind === 'map' ? section.entries : []).filter(isExtension).map(({ key, line }) => ({
    severity: 'note',
    line,
    field: dotted('context_servers', key),
    message: `${quote(key)} comes from an extension of Zed and is left out.`,
    fix: 'To use it here, add the server with `qm add`.',
  }));
}

/** Older settings have the program in a map: `{ "path": …, "args": …, "env": … }`. */
function unpack(entry: SourceEntry): SourceEntry {
  const { value } = entry;
  const program = child(value, 'command');
  if (value.kind !== 'map' || program?.kind !== 'map') return entry;
  // A repeated key is reported with the server.
  if (findRepeats(value, [['command']]).length > 0) return entry;
  const parts = program.entries.map((part) => (part.key === 'path' ? { ...part, key: 'command' } : part));
  const others = value.entries.filter(({ key }) => key !== 'command');
  return { ...entry, value: sourceMap(value.line, [...parts, ...others]) };
}

/** `agent.tool_permissions`: a default, and one for each tool. Patterns look at arguments and count as met. */
function readPermissions(
  root: SourceNode,
  file: string,
): { readonly rules: readonly PolicyRule[]; readonly findings: readonly Finding[] } {
  const at = 'agent.tool_permissions';
  const permissions = child(child(root, 'agent'), 'tool_permissions');
  const rules: PolicyRule[] = [];
  const findings: Finding[] = [
    ...findRepeats(root, [
      ['agent', 'tool_permissions'],
      ['agent', 'profiles'],
    ]),
  ];
  const add: AddRule = (pattern, field, { line }, effect) => {
    if (effect !== undefined) rules.push({ pattern, effect, source: { file, line } });
    else {
      const message = `${quote(field)} is not recognized and may be a restriction.`;
      findings.push({ severity: 'error', line, field, message, fix: 'Write "allow", "confirm" or "deny".' });
    }
  };
  const byDefault = entryOf(permissions, 'default');
  const written = entryOf(child(root, 'agent'), 'tool_permissions');
  if (permissions !== undefined && permissions.kind !== 'map' && written !== undefined) add('', at, written, undefined);
  if (byDefault !== undefined) add('*', dotted(at, 'default'), byDefault, effectOf(byDefault.value));
  const tools = child(permissions, 'tools');
  const list = entryOf(permissions, 'tools');
  if (tools !== undefined && tools.kind !== 'map' && list !== undefined) add('', dotted(at, 'tools'), list, undefined);
  for (const tool of tools?.kind === 'map' ? tools.entries : []) {
    if (tool.key.startsWith('mcp:')) add(tool.key, dotted(at, 'tools', tool.key), tool, strictestOf(tool.value));
  }
  readProfiles(child(root, 'agent'), add);
  if (rules.length > mostEntries) {
    const message = `"${at}" must have at most ${mostEntries} tools.`;
    findings.push({ severity: 'error', line: permissions?.line, field: at, message, fix: 'Remove some of them.' });
  }
  return { rules, findings };
}

type AddRule = (pattern: string, field: string, entry: SourceEntry, effect: RuleEffect | undefined) => void;

/** The hub has no profiles: a tool that one of them switches off is denied. */
function readProfiles(agent: SourceNode | undefined, add: AddRule): void {
  for (const profile of entriesOf(child(agent, 'profiles'))) {
    const at = dotted('agent.profiles', profile.key);
    const all = entryOf(profile.value, 'enable_all_context_servers');
    if (all !== undefined && (all.value.kind !== 'scalar' || all.value.value !== true)) {
      add('', dotted(at, all.key), all, undefined);
    }
    for (const server of entriesOf(child(profile.value, 'context_servers'))) {
      for (const tool of entriesOf(child(server.value, 'tools'))) {
        const flag = tool.value.kind === 'scalar' ? tool.value.value : undefined;
        const effect = flag === false ? 'deny' : undefined;
        const field = dotted(at, 'context_servers', server.key, 'tools', tool.key);
        if (flag !== true) add(`mcp:${server.key}:${tool.key}`, field, tool, effect);
      }
    }
  }
}

function entriesOf(node: SourceNode | undefined): readonly SourceEntry[] {
  return node?.kind === 'map' ? node.entries : [];
}

function effectOf(node: SourceNode | undefined): RuleEffect | undefined {
  return node?.kind === 'scalar' ? effects.get(node.text) : undefined;
}

const effects: ReadonlyMap<string, RuleEffect> = new Map([
  ['allow', 'allow'],
  ['confirm', 'require-approval'],
  ['deny', 'deny'],
]);

function strictestOf(tool: SourceNode): RuleEffect | undefined {
  if (tool.kind !== 'map') return undefined;
  if (child(tool, 'always_deny') !== undefined) return 'deny';
  const byDefault = child(tool, 'default');
  const effect = byDefault === undefined ? 'allow' : effectOf(byDefault);
  const asks = child(tool, 'always_confirm') !== undefined;
  return asks && effect === 'allow' ? 'require-approval' : effect;
}
