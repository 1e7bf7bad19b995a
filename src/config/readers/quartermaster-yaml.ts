import type { Configuration } from '../../domain/index.ts';
import { readAccess } from '../agents/read-access-settings.ts';
import { type ReadAgents, readAgents } from '../agents/read-agents.ts';
import { checkNode } from '../check-node.ts';
import { parseYaml } from '../files/parse-yaml.ts';
import { readCache } from '../files/read-cache.ts';
import { child, entryOf, isNull, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { type Finding, hasError, quote } from '../findings.ts';
import {
  checkSections,
  findRepeatedSection,
  mustBeMap,
  nothingAllowed,
  type SectionsFormat,
} from '../read-sections.ts';
import { denyEverything, type ReadPolicy, readPolicy } from '../restrictions/read-policy.ts';
import { readLabels } from '../rules/read-labels.ts';
import {
  allowPathsSchema,
  approvalsSchema,
  durationPattern,
  environmentSchema,
  fileSchema,
  isolations,
  ledgerSchema,
  lockModeSchema,
  namingSchema,
  policiesSchema,
  rootsSources,
  serverSchema,
  serveSchema,
} from '../schema.ts';
import { readFallbacks } from '../servers/read-fallbacks.ts';
import { millisecondsAt, readLimits } from '../servers/read-limits.ts';
import { readResults } from '../servers/read-results.ts';
import { readServers, type ServersFormat } from '../servers/read-servers.ts';
import { booleanAt, numberAt, textAt, textsAt } from '../texts.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import type { FileContent, FileOutcome, Reader, Settings } from './reader.ts';

/** Our own format: strict, and the only one with policies and settings. */
export const quartermasterYaml: Reader = {
  place: { file: 'quartermaster.yaml' },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: true,
  parse: parseYaml,
  read,
};

export const defaultServe: Configuration['serve'] = {
  allowedHosts: [],
  allowedOrigins: [],
  maxBodyBytes: 4_194_304,
  clientSessionIdleMs: 1_800_000,
  maxClientSessions: 10_000,
};

export const defaultLedger: Configuration['ledger'] = {
  sync: 'os',
  keep: { days: 7, megabytes: 1024 },
  runs: { days: 7, megabytes: 1024 },
};

export const defaultApprovals: Configuration['approvals'] = {
  waitMs: undefined,
  expiresMs: 3_600_000,
  fourEyes: false,
  require: 'any',
};

const sections = Object.keys(fileSchema.shape);
const format: SectionsFormat = { sections, restrictions: ['agents', 'policies'], unknownKeys: 'error' };

function read(root: SourceNode, file: string): FileOutcome {
  if (isNull(root)) return { kind: 'read', content: readContent(sourceMap(1, []), file) };
  if (root.kind !== 'map') {
    return refuse({
      line: root.line,
      message: `${file} must contain a map.`,
      fix: `Known keys are ${sections.join(', ')}.`,
    });
  }
  const twice = findRepeatedSection(root, file);
  if (twice !== undefined) return refuse(twice);
  const version = child(root, 'version');
  if (version !== undefined && !(version.kind === 'scalar' && version.value === 1)) {
    return refuse({
      line: entryOf(root, 'version')?.line,
      field: 'version',
      message: `${file} uses another version of the format; this hub supports version 1.`,
      fix: 'Write version: 1, or use a hub that supports the other version.',
    });
  }
  return { kind: 'read', content: readContent(root, file) };
}

function refuse(finding: Omit<Finding, 'severity'>): FileOutcome {
  return { kind: 'refused', finding: { severity: 'error', ...finding } };
}

function readContent(root: SourceMap, file: string): FileContent {
  const findings: Finding[] = [];
  const lost = checkSections(root, file, format, findings);
  const agents = readAgentsSection(root, file, findings);
  const policies = readPoliciesSection(root, file, findings);
  const settings = readSettings(root, findings);
  const locked = lost ?? (agents === undefined ? denyEverything({ file }) : undefined);
  const environment = readEnvironment(root, findings);
  return {
    servers: readServersSection(root, findings),
    findings,
    agents: agents?.agents ?? new Map(),
    roles: agents?.roles ?? new Map(),
    policy: locked ?? policies.policy,
    shadow: locked === undefined ? policies.shadow : undefined,
    ...(environment === undefined ? {} : { environment }),
    settings,
    mentions: [...(agents?.mentions ?? []), ...policies.mentions],
  };
}

function readAgentsSection(root: SourceMap, file: string, findings: Finding[]): ReadAgents | undefined {
  const section = child(root, 'agents');
  if (section === undefined) return { agents: new Map(), roles: new Map(), findings: [], mentions: [] };
  if (section.kind !== 'map') {
    findings.push(mustBeMap(root, 'agents', nothingAllowed));
    return undefined;
  }
  const read = readAgents(section, file);
  for (const finding of read.findings) findings.push(finding);
  return read;
}

function readPoliciesSection(root: SourceMap, file: string, findings: Finding[]): ReadPolicy {
  const section = child(root, 'policies');
  if (section === undefined) return { policy: undefined, shadow: undefined, findings: [], mentions: [] };
  const options = { field: 'policies', subject: 'Policies', unknownKeys: 'error' } as const;
  const read = readPolicy(section, { file, ...options });
  const own = [...checkNode(policiesSchema, section, options), ...read.findings];
  for (const finding of own) findings.push({ ...finding, message: `${finding.message} ${nothingAllowed}` });
  const line = entryOf(root, 'policies')?.line ?? section.line;
  return hasError(own) ? { ...read, policy: denyEverything({ file, line }), shadow: undefined } : read;
}

function readEnvironment(root: SourceMap, findings: Finding[]): string | undefined {
  const node = child(root, 'environment');
  if (node === undefined) return undefined;
  const options = { field: 'environment', subject: '"environment"', unknownKeys: 'error' } as const;
  findings.push(...checkNode(environmentSchema, node, options));
  // A text that is none chooses no environment, and the strictest applies.
  return textAt(root, 'environment') ?? '';
}

function readServersSection(root: SourceMap, findings: Finding[]): FileContent['servers'] {
  const section = child(root, 'servers');
  if (section === undefined) return [];
  if (section.kind === 'map') return readServers(section.entries, serversFormat);
  findings.push(mustBeMap(root, 'servers'));
  return [];
}

const serversFormat: ServersFormat = {
  field: 'servers',
  schema: serverSchema,
  unknownKeys: 'error',
  readBody(node, findings, place) {
    const [include, exclude] = [textsAt(node, 'tools'), textsAt(node, 'excludeTools')];
    return {
      description: textAt(node, 'description'),
      enabled: booleanAt(node, 'enabled') ?? true,
      shared: booleanAt(node, 'shared') ?? false,
      tools: { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) },
      limits: readLimits(node, findings, place),
      fallbacks: readFallbacks(node, findings, place),
      access: readAccess(node, findings, place),
      isolation: isolations.find((isolation) => isolation === textAt(node, 'isolation')),
      roots: rootsSources.find((source) => source === textAt(node, 'roots')),
      labels: readLabels(child(node, 'labels')),
      results: readResults(node, findings, place),
      paths: textAt(node, 'paths') === 'local' ? 'local' : undefined,
      cache: readCache(node),
      instead: textAt(node, 'instead'),
    };
  },
};

/** A section with a mistake keeps its defaults. */
function readSettings(root: SourceMap, findings: Finding[]): Settings {
  const usable = (['naming', 'ledger', 'serve', 'approvals', 'allowPaths', 'lock'] as const).filter((key) => {
    const node = child(root, key);
    if (node === undefined) return false;
    const found = checkNode(settingSchemas[key], node, { field: key, subject: quote(key), unknownKeys: 'error' });
    findings.push(...found);
    return !hasError(found);
  });
  return Object.assign({}, ...usable.map((key) => settingReaders[key](root)));
}

const settingSchemas = {
  naming: namingSchema,
  ledger: ledgerSchema,
  serve: serveSchema,
  approvals: approvalsSchema,
  allowPaths: allowPathsSchema,
  lock: lockModeSchema,
};

const settingReaders = {
  naming: (root: SourceMap): Settings => ({
    naming: textAt(root, 'naming') === 'preserved' ? 'preserved' : 'prefixed',
  }),
  ledger: (root: SourceMap): Settings => ({
    ledger: {
      sync: textAt(child(root, 'ledger'), 'sync') === 'always' ? 'always' : 'os',
      keep: retentionAt(child(root, 'ledger'), 'keep'),
      runs: retentionAt(child(root, 'ledger'), 'runs'),
    },
  }),
  approvals(root: SourceMap): Settings {
    const approvals = child(root, 'approvals');
    return {
      approvals: {
        waitMs: durationAt(approvals, 'wait'),
        expiresMs: durationAt(approvals, 'expires') ?? defaultApprovals.expiresMs,
        fourEyes: booleanAt(approvals, 'four_eyes') ?? defaultApprovals.fourEyes,
        require: textAt(approvals, 'require') === 'page' ? 'page' : 'any',
      },
    };
  },
  lock: (root: SourceMap): Settings => ({ lock: textAt(root, 'lock') === 'warn' ? 'warn' : 'enforce' }),
  allowPaths: (root: SourceMap): Settings => ({ allowPaths: textsAt(root, 'allowPaths') ?? [] }),
  serve(root: SourceMap): Settings {
    const serve = child(root, 'serve');
    const publicUrl = textAt(serve, 'publicUrl');
    return {
      serve: {
        ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/\/$/, '') }),
        allowedHosts: textsAt(serve, 'allowedHosts') ?? defaultServe.allowedHosts,
        allowedOrigins: textsAt(serve, 'allowedOrigins') ?? defaultServe.allowedOrigins,
        maxBodyBytes: numberAt(serve, 'maxBodyBytes') ?? defaultServe.maxBodyBytes,
        clientSessionIdleMs: millisecondsAt(serve, 'clientSessionIdle_s') ?? defaultServe.clientSessionIdleMs,
        maxClientSessions: numberAt(serve, 'maxClientSessions') ?? defaultServe.maxClientSessions,
      },
    };
  },
};

/** The schema has checked the form. */
function durationAt(node: SourceNode | undefined, key: string): number | undefined {
  const [, digits, unit = ''] = durationPattern.exec(textAt(node, key) ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits) * (unitMs[unit] ?? 0);
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function retentionAt(ledger: SourceNode | undefined, key: 'keep' | 'runs'): Configuration['ledger']['keep'] {
  const node = child(ledger, key);
  const { days, megabytes } = defaultLedger[key];
  return { days: numberAt(node, 'days') ?? days, megabytes: numberAt(node, 'megabytes') ?? megabytes };
}
