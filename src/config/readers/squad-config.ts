import { z } from 'zod';
import { readSquadAgents, squadAgentSections } from '../agents/read-squad-agents.ts';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { child, entryOf, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import type { Finding } from '../findings.ts';
import { checkSections, findRepeatedSection, mustBeMap, type SectionsFormat } from '../read-sections.ts';
import { denyEverything } from '../restrictions/read-policy.ts';
import {
  clientServerShape,
  isComment,
  isSample,
  readClientBody,
  sampleNote,
  withoutNoise,
} from '../servers/client-server.ts';
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

/** Squad's own spelling, and the one of most clients. */
const serverSections = ['servers', 'mcpServers'] as const;

const format: SectionsFormat = {
  sections: [...serverSections, ...squadAgentSections],
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
  const [field, second] = serverSections.filter((key) => child(root, key) !== undefined);
  if (field === undefined) return [];
  if (second !== undefined) {
    findings.push(oneOfBoth(root, field, second));
    return [];
  }
  const section = child(root, field);
  if (section?.kind !== 'map') {
    findings.push(mustBeMap(root, field));
    return [];
  }
  const entries = section.entries.filter((entry) => !isComment(entry));
  findings.push(...entries.filter(isSample).map((entry) => sampleNote(entry, field)));
  return readServers(entries.filter((entry) => !isSample(entry)).map(withoutNoise), { ...serversFormat, field });
}

/** Which of two entries of one name counts would be a guess. */
function oneOfBoth(root: SourceMap, first: string, second: string): Finding {
  return {
    severity: 'error',
    line: entryOf(root, second)?.line,
    field: second,
    message: `The file has both "${first}" and "${second}", so its servers are left out.`,
    fix: `Move all servers into "${first}".`,
  };
}

const serversFormat: Omit<ServersFormat, 'field'> = {
  schema: z.strictObject({ ...clientServerShape, shared: z.boolean().optional(), instead: z.string().optional() }),
  unknownKeys: 'warning',
  guards: ['tools', 'disabled'],
  readBody: (node, findings, place) => ({
    ...readClientBody(node, findings, place),
    shared: booleanAt(node, 'shared') ?? false,
  }),
};
