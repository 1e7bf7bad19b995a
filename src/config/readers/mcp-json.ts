import { z } from 'zod';
import { repeated } from '../check-node.ts';
import { shellGrammar } from '../interpolation.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import { type Finding, quote } from '../problems.ts';
import { readServers, type ServersFormat } from '../read-servers.ts';
import { transportShape } from '../schema.ts';
import { completeLimits, fullAccess } from '../server-draft.ts';
import { child, isNull, lineAt, type SourceEntry, type SourceNode, sourceMap } from '../source-tree.ts';
import { booleanAt, numberAt, textAt, textsAt } from '../texts.ts';
import { emptyContent, type Reader, type Reading } from './reader.ts';

/** Claude's project file, which Copilot and others read too. */
export const mcpJson: Reader = {
  place: { file: '.mcp.json' },
  grammar: shellGrammar,
  workspaceNames: ['CLAUDE_PROJECT_DIR'],
  restricts: false,
  parse: parseJsonc,
  read,
};

const serverSchema = z.strictObject({
  ...transportShape,
  description: z.string().optional(),
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  timeout: z.number().positive().max(2_147_483_647).optional(),
  // Copilot's list of tools to offer; to pass over it would offer more than was meant.
  tools: z.array(z.string()).optional(),
});

function read(root: SourceNode, file: string): Reading {
  if (root.kind !== 'map') {
    return refuse({ line: root.line, message: `${file} must hold an object with "mcpServers".` });
  }
  const wrapped = root.entries.filter(({ key }) => key === 'mcpServers');
  const [first, second] = wrapped;
  if (first !== undefined && second !== undefined) {
    return refuse({ line: second.line, field: 'mcpServers', ...repeated(file, 'mcpServers', first.line, second.line) });
  }
  if (first !== undefined && first.value.kind !== 'map') {
    return refuse({ line: first.line, field: 'mcpServers', message: '"mcpServers" must be an object.' });
  }
  const findings: Finding[] = [];
  const entries = first?.value.kind === 'map' ? first.value.entries : root.entries.filter(isServer);
  const used = new Set(entries);
  for (const entry of root.entries) {
    if (entry !== first && !isComment(entry) && !used.has(entry)) findings.push(unread(entry, first));
  }
  const format = { ...serversFormat, field: first === undefined ? '' : 'mcpServers' };
  const servers = readServers(entries.filter((entry) => !isComment(entry)).map(withoutNoise), format);
  return { kind: 'read', content: { ...emptyContent, servers, findings } };
}

const serversFormat: ServersFormat = {
  field: 'mcpServers',
  schema: serverSchema,
  unknownKeys: 'warning',
  badNames: 'rename',
  readBody(node, findings, place) {
    const [enabled, disabled] = [booleanAt(node, 'enabled'), booleanAt(node, 'disabled')];
    if (enabled === true && disabled === true) {
      findings.push({
        severity: 'warning',
        line: lineAt(node, ['disabled']),
        field: `${place.field}.disabled`,
        server: place.name,
        message: `Server ${quote(place.name)}: it is both enabled and disabled, and stays off.`,
        fix: 'Keep one of the two.',
      });
    }
    const include = textsAt(node, 'tools');
    return {
      description: textAt(node, 'description'),
      enabled: enabled !== false && disabled !== true,
      shared: false,
      tools: include === undefined ? {} : { include },
      limits: completeLimits({ timeoutMs: numberAt(node, 'timeout') }),
      fallbacks: [],
      access: fullAccess(place.line),
      instead: undefined,
    };
  },
};

function refuse(finding: Omit<Finding, 'severity'>): Reading {
  return { kind: 'refused', finding: { severity: 'error', fix: 'Write { "mcpServers": { … } }.', ...finding } };
}

/** Some files leave the wrapper out. */
function isServer({ value }: SourceEntry): boolean {
  return child(value, 'command') !== undefined || child(value, 'url') !== undefined;
}

/** JSON has no comments, so people write them as keys. */
function isComment({ key, value }: SourceEntry): boolean {
  return key === '$schema' || key.startsWith('//') || (key.startsWith('_') && !isServer({ key, line: 0, value }));
}

/** Also drops keys without a value, which other clients pass over; not where that would offer more tools. */
function withoutNoise(entry: SourceEntry): SourceEntry {
  if (entry.value.kind !== 'map') return entry;
  const kept = entry.value.entries.filter(
    (inner) => !isComment(inner) && (!isNull(inner.value) || inner.key === 'tools'),
  );
  return { ...entry, value: sourceMap(entry.value.line, kept) };
}

function unread({ key, line, value }: SourceEntry, wrapper: SourceEntry | undefined): Finding {
  const strayed = wrapper !== undefined && isServer({ key, line, value });
  return {
    severity: 'warning',
    line,
    field: key,
    message: `The key ${quote(key)} is not read.`,
    fix: strayed
      ? 'It looks like a server: move it into "mcpServers".'
      : wrapper === undefined
        ? 'Servers go into "mcpServers".'
        : undefined,
  };
}
