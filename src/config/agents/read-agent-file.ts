import { z } from 'zod';
import { didYouMean } from '../../base/index.ts';
import type { AgentSpec } from '../../domain/index.ts';
import { checkNode, repeated } from '../check-node.ts';
import { child, entryOf, lineAt, type SourceMap, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { Mention } from '../readers/reader.ts';
import { readEnforced } from '../restrictions/read-policy.ts';
import { looksRestrictive, restrictionRole } from '../restrictions/restriction-words.ts';
import { rulesShape } from '../schema.ts';
import { checkName } from '../servers/server-draft.ts';
import { textAt } from '../texts.ts';

export interface AgentName {
  readonly text: string;
  /** The key that holds the name. Empty if there is none. */
  readonly key: string;
  readonly findings: readonly Finding[];
}

/** Reads the rules on tools from an agent's own file. Mistakes in them are errors. All other keys are ignored. */
export function readAgentFile(
  root: SourceMap,
  name: AgentName,
  file: string,
): { readonly agent: AgentSpec; readonly findings: readonly Finding[]; readonly mentions: readonly Mention[] } {
  const subject = `Agent ${quote(name.text)}`;
  const findings = [...name.findings, ...nameFindings(root, name), ...repeatedKeys(root, subject)];
  findings.push(...lookAlikes(root, '', subject, (key) => didYouMean(key, sections)));
  for (const section of sections) findings.push(...checkSection(root, section, subject));
  const { servers, mentions } = readRequired(root, findings, subject);
  const policies = child(root, 'policies');
  const rules =
    policies === undefined
      ? undefined
      : readEnforced(policies, { file, field: 'policies', subject: `${subject}, policies` });
  return {
    agent: {
      name: name.text,
      source: { file, line: root.line },
      servers,
      tools: new Map(),
      policy: rules?.policy,
    },
    findings: [...findings, ...(rules?.findings ?? [])],
    mentions: [...mentions, ...(rules?.mentions ?? [])],
  };
}

const sections = ['requires', 'policies'] as const;

const named = z.string().min(1);

const schemas: Readonly<Record<(typeof sections)[number], z.ZodType>> = {
  requires: z.looseObject({
    mcp: z.array(z.union([named, z.looseObject({ id: named }), z.looseObject({ name: named })])).optional(),
  }),
  // Another program may have its own meaning of `mode`, so rules here are always enforced.
  policies: z.looseObject(rulesShape),
};

const nearestOf: Readonly<Record<(typeof sections)[number], (key: string) => string | undefined>> = {
  requires: (key) => (/mcp/i.test(key) ? 'mcp' : undefined),
  policies: (key) => didYouMean(key, Object.keys(rulesShape)),
};

function checkSection(root: SourceMap, section: (typeof sections)[number], subject: string): Finding[] {
  const node = child(root, section);
  if (node === undefined) return [];
  const options = { field: section, subject: `${subject}, ${section}`, unknownKeys: 'error' } as const;
  return [
    ...checkNode(schemas[section], node, options),
    ...lookAlikes(node, section, options.subject, nearestOf[section]),
  ];
}

function nameFindings(root: SourceMap, { text, key }: AgentName): Finding[] {
  const badName = checkName('Agent', text);
  return badName === undefined ? [] : [{ severity: 'error', line: lineAt(root, [key]), field: key, ...badName }];
}

/** If two entries differ, it is unclear which one is meant. */
function repeatedKeys(root: SourceMap, subject: string): Finding[] {
  const ours: readonly string[] = ['slug', 'id', 'name', ...sections];
  return root.entries.flatMap((entry): Finding[] => {
    const { key, line } = entry;
    const first = entryOf(root, key);
    if (!ours.includes(key) || first === undefined || first === entry) return [];
    return [{ severity: 'error', line, field: key, ...repeated(subject, key, first.line, line) }];
  });
}

/** Ignoring a misspelled key would give the agent more than intended. */
function lookAlikes(
  node: SourceNode,
  field: string,
  subject: string,
  nearest: (key: string) => string | undefined,
): Finding[] {
  return (node.kind === 'map' ? node.entries : []).flatMap(({ key, line }): Finding[] => {
    const near = nearest(key);
    if (near === undefined || entryOf(node, near) !== undefined) {
      return isLost(key, field) ? [notUnderstood(subject, dotted(field, key), line)] : [];
    }
    const message = `${subject}: the key ${quote(key)} is unknown.`;
    return [{ severity: 'error', line, field: dotted(field, key), message, fix: `Did you mean "${near}"?` }];
  });
}

/** Most of the file is about other things. At the top level, only keys about tools or servers matter. */
function isLost(key: string, field: string): boolean {
  if (sections.some((section) => section === key) || key === 'mcp' || key === 'tools') return false;
  return looksRestrictive(key) && (field !== '' || /tool|server|mcp/i.test(key));
}

function notUnderstood(subject: string, field: string, line: number): Finding {
  const message = `${subject}: ${quote(field)} looks like a restriction but is not recognized.`;
  return { severity: 'error', line, field, message, fix: 'Write it under policies.tools, as server.tool.' };
}

/** Servers by name, or by maps with a name. Other keys in the map may be meant to restrict, so they are reported. */
function readRequired(
  root: SourceMap,
  findings: Finding[],
  subject: string,
): { readonly servers: readonly string[] | undefined; readonly mentions: readonly Mention[] } {
  const list = child(child(root, 'requires'), 'mcp');
  if (list?.kind !== 'list') return { servers: undefined, mentions: [] };
  const mentions = list.items.flatMap((item, index): Mention[] => {
    const text = item.kind === 'scalar' ? item.text : (textAt(item, 'id') ?? textAt(item, 'name'));
    if (text === undefined) return [];
    const field = dotted('requires.mcp', index);
    for (const { key, line } of item.kind === 'map' ? item.entries : []) {
      if (key === 'id' || key === 'name') continue;
      if (looksRestrictive(key) || restrictionRole(key) !== undefined) {
        findings.push(notUnderstood(subject, dotted(field, key), line));
        continue;
      }
      const message = `${subject}: the key ${quote(key)} next to the server ${quote(text)} is ignored.`;
      findings.push({ severity: 'warning', line, field: dotted(field, key), message });
    }
    return [{ kind: 'name', text, line: item.line, field, subject }];
  });
  return { servers: mentions.map(({ text }) => text), mentions };
}
