import { HubError, type RandomBytes } from '../../../base/index.ts';
import { findServingHub, keepServedPort, readServedPort, type WorkspaceLayout } from '../../../storage/index.ts';
import type { Gateway } from '../../gateway/index.ts';
import { shellWord } from '../next-command.ts';

const usualPort = 4680;

/**
 * Opens on the port that the operator named. Otherwise on the one this workspace had before, or the usual one; if that
 * is taken, for example by the hub of another workspace, on a free one, which is remembered.
 */
export async function openOnPort(
  open: (port: number) => Promise<Gateway>,
  named: number | undefined,
  layout: WorkspaceLayout,
  random: RandomBytes,
): Promise<Gateway> {
  if (named !== undefined)
    return open(named).catch(async (error: unknown) => Promise.reject(await withHolder(error, named, layout)));
  try {
    return await open((await readServedPort(layout)) ?? usualPort);
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
  const gateway = await open(0);
  await keepServedPort(layout, Number(new URL(gateway.url).port), random);
  return gateway;
}

function isTaken(error: unknown): error is HubError {
  return error instanceof HubError && error.code === 'PORT_TAKEN';
}

/** Says which of our own hubs has the port, if one has. */
async function withHolder(error: unknown, port: number, { home }: WorkspaceLayout): Promise<unknown> {
  const holder = isTaken(error) ? await findServingHub(home, port) : undefined;
  if (!isTaken(error) || holder === undefined) return error;
  const { workspace, pid } = holder;
  return new HubError('PORT_TAKEN', `Port ${port} is taken by the hub of ${workspace} (process ${pid}).`, {
    cause: error,
    hint: `Take a free port with --port 0, or end that hub with \`qm stop --workspace ${shellWord(workspace)}\`.`,
  });
}
