import { z } from 'zod';
import { HubError } from '../../../base/index.ts';
import { placeOf, type ServerSpec } from '../../../domain/index.ts';
import type { Hub, InspectOutcome } from '../../../hub/index.ts';
import { isModernVersion } from '../../../mcp/index.ts';
import type { Inspection } from '../../../upstream/index.ts';
import type { OperationRequest } from '../../control/index.ts';
import type { CliContext } from '../context.ts';
import { maskTexts } from '../terminal/mask.ts';
import { readySpecOf } from './diagnose-servers.ts';
import { patienceOf } from './diagnosis-scope.ts';
import { doctorServerSchema, type InspectAnswer, inspectSchema } from './diagnosis-shapes.ts';
import { probedRow } from './doctor-row.ts';

const paramsSchema = z.object({
  server: z.string(),
  timeoutMs: z.number().positive().optional(),
  isConfigured: z.boolean().default(true),
});

/** What the server has, or why it cannot be asked. */
export const inspectOutcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('found'), answer: inspectSchema }),
  z.object({ kind: z.literal('unavailable'), row: doctorServerSchema }),
]);

type Found = Extract<InspectOutcome, { kind: 'found' }>;

/** Inspects a server inside the hub. */
export async function inspectInHub(
  cli: Pick<CliContext, 'clock' | 'mask'>,
  hub: Hub,
  { params, signal }: Pick<OperationRequest, 'params' | 'signal'>,
): Promise<z.infer<typeof inspectOutcomeSchema>> {
  const { server, timeoutMs: wanted, isConfigured } = paramsSchema.parse(params);
  const spec = await readySpecOf(cli, hub, server);
  if (spec === undefined) {
    throw new HubError('SERVER_UNKNOWN', `The running hub does not use a server "${server.slice(0, 80)}".`, {
      hint: '`qm ls` shows why.',
    });
  }
  const timeoutMs = wanted ?? patienceOf(spec);
  const outcome = await hub.diagnosis({ tool: 'inspect' }).inspect(spec, { timeoutMs, signal });
  if (outcome.kind === 'found')
    return { kind: 'found', answer: maskTexts(cli.mask, toAnswer(spec, outcome, isConfigured)) };
  return { kind: 'unavailable', row: probedRow(cli, spec, outcome.probe, { timeoutMs, isConfigured }) };
}

function toAnswer(spec: ServerSpec, { inspection, exposed }: Found, isConfigured: boolean): InspectAnswer {
  const { serverInfo, instructions, tools, ...found } = inspection;
  return {
    name: spec.name,
    source: isConfigured ? placeOf(spec.source) : null,
    transport: found.transport,
    protocolVersion: found.protocolVersion,
    serverInfo: serverInfo ?? null,
    instructions: instructions ?? null,
    capabilities: { ...found.capabilities },
    isolation: spec.isolation,
    roots: spec.roots,
    notOffered: notOffered(spec, found),
    tools: tools.map(({ text }) => JSON.parse(text) as Record<string, unknown>), // written by the tool reader
    resources: [...found.resources],
    resourceTemplates: [...found.resourceTemplates],
    prompts: [...found.prompts],
    exposed: [...exposed],
    warnings: [...found.warnings],
  };
}

/**
 * Roots must be configured. On a shared connection, requests of a legacy server cannot be attributed to a client; a
 * modern server puts them into its result. Log messages do not name their call, unless each call has its own stream.
 */
function notOffered(
  { isolation, roots: from }: ServerSpec,
  { protocolVersion, transport }: Pick<Inspection, 'protocolVersion' | 'transport'>,
): InspectAnswer['notOffered'] {
  const roots = from === 'none' ? (['roots'] as const) : [];
  if (isolation !== 'shared') return [...roots];
  const logs = transport === 'http' ? [] : (['logging'] as const);
  return isModernVersion(protocolVersion) ? [...roots, ...logs] : ['elicitation', 'sampling', 'roots', ...logs];
}
