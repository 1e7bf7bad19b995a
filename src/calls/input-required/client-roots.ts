import { isJsonObject } from '../../base/index.ts';
import type { ClientResponse } from '../../mcp/index.ts';

/** The roots of a client that a server may have, of those that the client says it has. */
export type RootsFilter = (server: string, roots: readonly unknown[]) => Promise<readonly unknown[]>;

/** The client's answer to `roots/list`, with nothing in it but roots that the server may have. */
export async function answerWithRoots(
  answer: ClientResponse,
  filter: (roots: readonly unknown[]) => Promise<readonly unknown[]>,
): Promise<ClientResponse> {
  if (answer.kind === 'error') return answer;
  return { kind: 'result', text: await rootsResult(JSON.parse(answer.text), filter) };
}

/** The same for a parsed answer, as JSON text. */
export async function rootsResult(
  answer: unknown,
  filter: (roots: readonly unknown[]) => Promise<readonly unknown[]>,
): Promise<string> {
  const said = isJsonObject(answer) ? answer.roots : undefined;
  return JSON.stringify({ roots: await filter(Array.isArray(said) ? said : []) });
}
