import { z } from 'zod';
import type { Finding } from './problems.ts';
import { readEnabled, readToolList } from './read-offer.ts';
import { restrictionRole } from './restriction-words.ts';
import { transportShape } from './schema.ts';
import { completeLimits, fullAccess, type ServerBody, type ServerPlace } from './server-draft.ts';
import { child, isNull, type SourceEntry, type SourceNode, sourceMap } from './source-tree.ts';
import { numberAt, textAt } from './texts.ts';

/** What a server holds in the files of most clients. */
export const clientServerShape = {
  ...transportShape,
  description: z.string().optional(),
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  timeout: z.number().positive().max(2_147_483_647).optional(),
  // Copilot's list of tools to offer; to pass over it would offer more than was meant.
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

/** Looks like a server at a place where one is not expected. */
export function isServer({ value }: SourceEntry): boolean {
  return child(value, 'command') !== undefined || child(value, 'url') !== undefined;
}

/** JSON has no comments, so people write them as keys. */
export function isComment(entry: SourceEntry): boolean {
  const { key } = entry;
  return key === '$schema' || key.startsWith('//') || (key.startsWith('_') && !isServer(entry));
}

/** Also drops keys without a value, which other clients pass over; not where that would offer more tools. */
export function withoutNoise(entry: SourceEntry): SourceEntry {
  if (entry.value.kind !== 'map') return entry;
  const kept = entry.value.entries.filter(
    (inner) => !isComment(inner) && (!isNull(inner.value) || restrictionRole(inner.key) === 'include'),
  );
  return { ...entry, value: sourceMap(entry.value.line, kept) };
}
