import { errnoOf, HubError, type RandomBytes } from '../../../base/index.ts';
import { keepServedPort, readServedPort, type WorkspaceLayout } from '../../../storage/index.ts';
import type { Gateway } from '../../gateway/index.ts';

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
  if (named !== undefined) return open(named);
  try {
    return await open((await readServedPort(layout)) ?? usualPort);
  } catch (error) {
    if (!(error instanceof HubError) || errnoOf(error.cause) !== 'EADDRINUSE') throw error;
  }
  const gateway = await open(0);
  await keepServedPort(layout, Number(new URL(gateway.url).port), random);
  return gateway;
}
