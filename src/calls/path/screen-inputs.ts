import { HubError, isJsonObject } from '../../base/index.ts';
import { membersOf, withMembers } from '../../mcp/index.ts';
import { rootsResult } from '../input-required/client-roots.ts';
import type { CallRun } from './call-run.ts';

/**
 * A modern client sends its answers with the call, whether it was asked or not. Roots among them pass the same filter as
 * those of a client that is asked while it waits. All other answers keep their text.
 */
export async function screenInputs(run: CallRun): Promise<void> {
  const params = `{${run.inputs}}`;
  const { inputResponses } = JSON.parse(params) as Record<string, unknown>; // members of an object
  if (!isJsonObject(inputResponses)) return;
  const changes: [string, string][] = [];
  for (const [key, answer] of Object.entries(inputResponses)) {
    if (isJsonObject(answer) && Object.hasOwn(answer, 'roots')) changes.push([key, await passedRoots(run, answer)]);
  }
  if (changes.length === 0) return;
  const { start, end } = membersOf(params).find(({ key }) => key === 'inputResponses') ?? { start: 0, end: 0 };
  const responses = withMembers(params.slice(start, end), Object.fromEntries(changes));
  run.inputs = withMembers(params, { inputResponses: responses }).slice(1, -1);
}

function passedRoots({ path, target }: CallRun, answer: unknown): Promise<string> {
  const { server, control } = target;
  if (control.spec.roots === 'client') return rootsResult(answer, (roots) => path.filterRoots(server, roots));
  throw new HubError('INVALID_PARAMS', `Server "${server}" gets no roots of its clients.`, {
    hint: 'Call again without roots in inputResponses.',
    details: { server, tool: target.subjectName },
  });
}
