import { z } from 'zod';
import type { Hub } from '../../../hub/index.ts';
import { type DefinitionsBody, definitionsBody } from '../../api/index.ts';

/** Reads the lists of these servers again, or of all, and reports their definitions. */
export async function listDefinitions(hub: Hub, params: unknown): Promise<DefinitionsBody> {
  const { servers } = z.object({ servers: z.array(z.string()).optional() }).parse(params);
  await hub.discover(servers);
  const { servers: all } = definitionsBody(hub);
  return { servers: all.filter(({ server }) => servers?.includes(server) !== false) };
}
