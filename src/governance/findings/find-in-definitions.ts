import { createHash } from 'node:crypto';
import type { Catalog } from '../../domain/index.ts';
import type { DefinitionFinding } from './definition-finding.ts';
import { spelledOut } from './hidden-characters.ts';
import { mostGrave, type ScannedDefinitions, scanDefinition } from './scan-definition.ts';
import { findShadowedNames, type ScannedTool, type ServerFinding } from './shadowed-names.ts';

export type ListedDefinitions = Pick<Catalog, 'tools' | 'resources' | 'templates' | 'prompts'>;

export interface FindOptions {
  /** Ids of findings that a person looked at. */
  readonly acknowledged: ReadonlySet<string>;
  /** Pass the same one again, and definitions that did not change are not read again. */
  readonly scanned?: ScannedDefinitions;
  /** Applied to each text from outside before it is cut and quoted. */
  readonly redact?: (text: string) => string;
}

/** At most this many for each server, warnings first. */
export const mostFindingsPerServer = 100;

/** Reads what servers say about themselves, in the order of the configuration. Changes nothing. */
export function findInDefinitions(
  servers: ReadonlyMap<string, ListedDefinitions>,
  { acknowledged, scanned = new WeakMap(), redact = (text) => text }: FindOptions,
): readonly DefinitionFinding[] {
  const tools = new Map<string, readonly ScannedTool[]>();
  const found = new Map<string, ServerFinding[]>();
  for (const [server, listed] of servers) {
    const own = definitionsOf(listed).flatMap(({ subject, definition }) =>
      scanDefinition(definition, scanned).findings.map((finding) => ({ server, subject, ...finding })),
    );
    found.set(server, own);
    tools.set(
      server,
      listed.tools.map((tool) => ({ name: tool.name, ...scanDefinition(tool, scanned) })),
    );
  }
  for (const finding of findShadowedNames(tools)) found.get(finding.server)?.push(finding);
  return [...found.values()]
    .flatMap((findings) => mostGrave(findings, mostFindingsPerServer))
    .map((finding) => toFinding(finding, { acknowledged, redact }));
}

/** Everything that a server lists, by the names that rules use. */
export function definitionsOf({
  tools,
  resources,
  templates,
  prompts,
}: ListedDefinitions): readonly ListedDefinition[] {
  return [
    ...tools.map((definition) => ({ subject: definition.name, definition })),
    ...prompts.map((definition) => ({ subject: `prompt:${definition.name}`, definition })),
    ...resources.map((definition) => ({ subject: `resource:${definition.uri}`, definition })),
    ...templates.map((definition) => ({ subject: `resource:${definition.uriTemplate}`, definition })),
  ];
}

interface ListedDefinition {
  readonly subject: string;
  readonly definition: { readonly text: string };
}

function toFinding(
  { kind, rule, severity, server, subject, at, says, text }: ServerFinding,
  { acknowledged, redact }: Required<Pick<FindOptions, 'acknowledged' | 'redact'>>,
): DefinitionFinding {
  const about = JSON.stringify([kind, rule, server, subject, at, text]);
  const id = createHash('sha256').update(about).digest('hex').slice(0, 32);
  const shown = (name: string): string => spelledOut(redact(name));
  const who = subject === null ? `Server ${server}` : shown(`${server}.${subject}`);
  const where = subject === null || at === 'name' ? '' : ` (${shown(at)})`;
  return {
    id,
    kind,
    severity,
    server,
    subject: subject === null ? null : redact(subject),
    at: redact(at),
    message: `${who}${where} ${says((part) => `"${spelledOut(redact(part))}"`)}.`,
    acknowledged: acknowledged.has(id),
  };
}
