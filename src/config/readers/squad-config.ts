import { z } from 'zod';
import { clientServerShape, isComment, readClientBody, withoutNoise } from '../client-server.ts';
import { shellGrammar } from '../interpolation.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import type { Finding } from '../problems.ts';
import { denyEverything } from '../read-policy.ts';
import { checkSections, findRepeatedSection, mustBeMap, type SectionsFormat } from '../read-sections.ts';
import { readServers, type ServersFormat } from '../read-servers.ts';
import { readSquadAgents, squadAgentSections } from '../read-squad-agents.ts';
import { child, type SourceMap, type SourceNode, sourceMap } from '../source-tree.ts';
import { emptyContent, type FileContent, type Reader, type Reading } from './reader.ts';

/** Squad's servers, and which agent or role gets which of them. */
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

function read(root: SourceNode, file: string): Reading {
  const fix = 'Write { "servers": { … }, "agentServers": { … }, "toolRestrictions": { … } }.';
  if (root.kind !== 'map') {
    const finding = { severity: 'error', line: root.line, message: `${file} must hold an object.`, fix } as const;
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
  schema: z.strictObject({ ...clientServerShape, instead: z.string().optional() }),
  unknownKeys: 'warning',
  guards: ['tools', 'disabled'],
  readBody: readClientBody,
};
