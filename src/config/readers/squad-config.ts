import { z } from 'zod';
import { readSquadAgents, squadAgentSections } from '../agents/read-squad-agents.ts';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { child, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import type { Finding } from '../findings.ts';
import { checkSections, findRepeatedSection, mustBeMap, type SectionsFormat } from '../read-sections.ts';
import { denyEverything } from '../restrictions/read-policy.ts';
import { clientServerShape, isComment, readClientBody, withoutNoise } from '../servers/client-server.ts';
import { readServers, type ServersFormat } from '../servers/read-servers.ts';
import { booleanAt } from '../texts.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { emptyContent, type FileContent, type FileOutcome, type Reader } from './reader.ts';

/** Squad's servers, with their assignment to agents and roles. */
export const squadConfig: Reader = {
  place: { file: '.squad/mcp-config.json' },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: true,
  parse: parseJsonc,
  read,
};

const format: SectionsFormat = {
  sections: ['servers', ...squadAgentSections],
  restrictions: squadAgentSections,
  unknownKeys: 'warning',
};

function read(root: SourceNode, file: string): FileOutcome {
  const fix = 'Write { "servers": { … }, "agentServers": { … }, "toolRestrictions": { … } }.';
  if (root.kind !== 'map') {
    const finding = { severity: 'error', line: root.line, message: `${file} must contain an object.`, fix } as const;
    return { kind: 'refused', finding };
  }
  const sections = sourceMap(
    root.line,
    root.entries.filter((entry) => !isComment(entry)),
  );
  const twice = findRepeatedSection(sections, file);
  if (twice !== undefined) return { kind: 'refused', finding: { severity: 'error', ...twice } };
  return { kind: 'read', content: readContent(sections, file) };
}

function readContent(root: SourceMap, file: string): FileContent {
  const findings: Finding[] = [];
  const lost = checkSections(root, file, format, findings);
  const agents = readSquadAgents(root, file, findings);
  return {
    ...emptyContent,
    servers: readServersSection(root, findings),
    findings,
    agents: agents?.agents ?? new Map(),
    policy: lost ?? (agents === undefined ? denyEverything({ file }) : undefined),
    mentions: agents?.mentions ?? [],
  };
}

function readServersSection(root: SourceMap, findings: Finding[]): FileContent['servers'] {
  const section = child(root, 'servers');
  if (section === undefined) return [];
  if (section.kind === 'map') {
    return readServers(section.entries.filter((entry) => !isComment(entry)).map(withoutNoise), serversFormat);
  }
  findings.push(mustBeMap(root, 'servers'));
  return [];
}

const serversFormat: ServersFormat = {
  field: 'servers',
  schema: z.strictObject({ ...clientServerShape, shared: z.boolean().optional(), instead: z.string().optional() }),
  unknownKeys: 'warning',
  guards: ['tools', 'disabled'],
  readBody: (node, findings, place) => ({
    ...readClientBody(node, findings, place),
    shared: booleanAt(node, 'shared') ?? false,
  }),
};
