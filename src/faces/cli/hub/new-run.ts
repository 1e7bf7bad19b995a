import { createId } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';

/** The run of a client that named none. */
export function newRun({ random }: Pick<CliContext, 'random'>, agent: string): string {
  return `${agent.replaceAll('.', '_').slice(0, 50)}-${createId(random, 10)}`;
}
