import { z } from 'zod';
import { child, isNull, type SourceEntry, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { restrictionRole } from '../restrictions/restriction-words.ts';
import { transportShape } from '../schema.ts';
import { numberAt, textAt } from '../texts.ts';
import { readEnabled, readToolList } from './read-enabled-tools.ts';
import { completeLimits, fullAccess, type ServerBody, type ServerPlace } from './server-draft.ts';

/** The keys of a server in most clients' files. */
export const clientServerShape = {
  ...transportShape,
  description: z.string().optional(),
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  timeout: z.number().positive().max(2_147_483_647).optional(),
  // Copilot's list of tools. Ignoring it would expose more than intended.
  tools: z.array(z.string()).optional(),
};

export function readClientBody(
  node: SourceNode,
  findings: Finding[],
  place: ServerPlace,
): Omit<ServerBody, 'transport'> {
  return {
    description: textAt(node, 'description'),
    enabled: readEnabled(node, findings, place),
    shared: false,
    tools: readToolList(node, findings, place),
    limits: completeLimits({ timeoutMs: numberAt(node, 'timeout') }),
    fallbacks: [],
    access: fullAccess(place.line),
    instead: textAt(node, 'instead'),
  };
}

/** Whether an entry looks like a server, in a place where none is expected. */
export function isServer({ value }: SourceEntry): boolean {
  return child(value, 'command') !== undefined || child(value, 'url') !== undefined;
}

/** JSON has no comments, so people write them as keys. */
export function isComment(entry: SourceEntry): boolean {
  const { key } = entry;
  return key === '$schema' || key.startsWith('//') || (key.startsWith('_') && !isServer(entry));
}

/** Drops comments, and keys without a value, which other clients ignore. Keeps those that limit the tools. */
export function withoutNoise(entry: SourceEntry): SourceEntry {
  if (entry.value.kind !== 'map') return entry;
  const kept = entry.value.entries.filter((inner) => {
    if (isComment(inner) || isEmptyMap(inner)) return false;
    return !isNull(inner.value) || restrictionRole(inner.key) === 'include';
  });
  return { ...entry, value: sourceMap(entry.value.line, kept) };
}

/** PHP has one type for lists and maps, so its programs write an empty map as `[]`. */
function isEmptyMap({ key, value }: SourceEntry): boolean {
  return mapKeys.has(key) && value.kind === 'list' && value.items.length === 0;
}

/** The parts of a server that are maps of texts. */
export const mapKeys: ReadonlySet<string> = new Set(['env', 'environment', 'headers']);

/** `squad init` writes samples under such names, "rename to enable". They are not meant to run. */
export function isSample({ key }: SourceEntry): boolean {
  return key.startsWith('EXAMPLE-');
}

export function sampleNote({ key, line }: SourceEntry, field: string): Finding {
  return {
    severity: 'note',
    line,
    field: dotted(field, key),
    message: `${quote(key)} is a sample and is left out.`,
    fix: 'To use it, rename it.',
  };
}
