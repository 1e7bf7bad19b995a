import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { type Clock, HubError, type Logger, type Timer, toHubError } from '../../base/index.ts';
import { createTokenBook, sameSecret, type TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  acquireLock,
  claimWorkspace,
  createFileTokenStore,
  ensureAdminToken,
  ensureStateFolder,
  type HeldLock,
  putAdminToken,
  readServeFile,
  removeServeFile,
  type WorkspaceLayout,
  workspaceLayout,
  writeServeFile,
} from '../../storage/index.ts';
import { createApi } from '../api/index.ts';
import { type Gateway, openGateway } from '../gateway/index.ts';
import { createMeter, createMetrics } from '../metrics/index.ts';
import type { CliContext } from './context.ts';
import type { Invocation } from './global-options.ts';
import { openLocalHub } from './local-hub.ts';
import { createLogger } from './logger.ts';

/** A hub with its port open and its name on the door. */
export interface Serve {
  readonly url: string;
  readonly hub: Hub;
  readonly logger: Logger;
  readonly adminTokenFile: string;
  /** Finishes calls under way, then closes everything. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
}

export async function openServe(cli: CliContext, invocation: Invocation, options: ServeOptions): Promise<Serve> {
  const layout = workspaceLayout(invocation.workspace);
  const lock = await takeWorkspace(cli, invocation, layout);
  try {
    return await openLocked(cli, invocation, options, layout, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(
  cli: CliContext,
  invocation: Invocation,
  options: ServeOptions,
  layout: WorkspaceLayout,
  lock: WorkspaceLock,
): Promise<Serve> {
  const { clock, random } = cli;
  const admin = await ensureAdminToken(layout, random);
  const meter = createMeter();
  const local = await openLocalHub(cli, invocation, { watch: true, discover: true, defaultLevel: 'info', meter });
  const { hub, logger } = local;
  try {
    const tokens = await createTokenBook({ clock, random, store: createFileTokenStore(layout, { clock, random }) });
    let gateway: Gateway | undefined;
    const operator = {
      hub,
      isAdmin: (token: string) => sameSecret(token, admin),
      clientSessions: () => gateway?.clientSessions ?? 0,
    };
    const api = createApi({ ...operator, tokens, logger });
    const metrics = createMetrics({ ...operator, meter, clock });
    gateway = await openGateway({ hub, tokens, clock, logger, random, api, metrics }, options);
    const url = reachable(gateway.url);
    const entry = await writeServeFile(layout, url, random);
    hub.state.onRestored(async () => {
      await lock.takeAgain();
      await putAdminToken(layout, admin, random);
      await tokens.putBack();
      await writeServeFile(layout, url, random);
    });
    const forgetTokens = watchTokens({ ...cli, hub, tokens, logger }, layout);
    const shut = gateway;
    const close = async (): Promise<void> => {
      forgetTokens();
      await removeServeFile(layout, entry).catch((error: unknown) => logSkipped(logger, error));
      // Together: no new connections, while calls under way end and their answers leave.
      await Promise.all([shut.close(), local.close()]);
      await lock.release();
    };
    return { url, hub, logger, adminTokenFile: layout.adminToken, close };
  } catch (error) {
    await local.close();
    throw error;
  }
}

interface WorkspaceLock extends HeldLock {
  /** The file of it, when its folder was deleted. */
  takeAgain(): Promise<void>;
}

/**
 * One hub per workspace: two would not hear of each other's revocations. The claim is what counts on this machine; the
 * file tells hubs of other machines and containers that share the folder.
 */
async function takeWorkspace(
  cli: CliContext,
  { logLevel }: Invocation,
  layout: WorkspaceLayout,
): Promise<WorkspaceLock> {
  const { clock, random } = cli;
  const options = { clock, random, waitMs: 0 };
  let claim: HeldLock | undefined;
  try {
    claim = await claimWorkspace(layout.workspace, options);
    await ensureStateFolder(layout, { clock, random, logger: createLogger(cli, logLevel ?? 'info') });
    let lock = await acquireLock(layout, 'hub', options);
    return {
      async takeAgain() {
        lock = await acquireLock(layout, 'hub', options);
      },
      async release() {
        await lock.release();
        await claim?.release();
      },
    };
  } catch (error) {
    await claim?.release();
    const known = toHubError(error);
    throw known.code === 'STATE_LOCKED' ? await servedAlready(layout, known) : error;
  }
}

async function servedAlready(layout: WorkspaceLayout, cause: HubError): Promise<HubError> {
  const running = await readServeFile(layout).catch(() => undefined);
  const pid = running?.pid ?? cause.details.pid;
  const where = running === undefined ? '' : ` at ${running.url}`;
  const who = pid === undefined ? '' : ` (process ${String(pid)})`;
  return new HubError('STATE_LOCKED', `A hub already serves ${layout.workspace}${where}${who}.`, {
    hint: 'Use that one, or stop it first.',
    cause,
    details: cause.details,
  });
}

/** Nobody can connect to "every address"; on this machine, loopback is one of them. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

interface TokenWatchDeps {
  readonly clock: Clock;
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly logger: Logger;
}

/**
 * Tokens that another process wrote while it could not find this hub. Without the file there are none: that is how all
 * are revoked at once. Where the whole folder went, it is put back with the tokens instead.
 */
function watchTokens({ clock, hub, tokens, logger }: TokenWatchDeps, layout: WorkspaceLayout): () => void {
  let timer: Timer | undefined;
  const reload = (): void => {
    if (!hub.state.isIntact()) return;
    tokens.reload().catch((error: unknown) => logger.error('tokens_unreadable', { error: toHubError(error).message }));
  };
  const onChange = ({ mtimeMs }: Stats): void => {
    timer?.cancel();
    // A folder is deleted file by file: only a moment later is it clear whether this was the only one.
    if (mtimeMs === 0) timer = clock.setTimer(settleMs, reload);
    else reload();
  };
  watchFile(layout.tokens, { persistent: false, interval: 1000 }, onChange);
  return () => {
    timer?.cancel();
    unwatchFile(layout.tokens, onChange);
  };
}

const settleMs = 500;

function logSkipped(logger: Logger, error: unknown): void {
  logger.warn('serve_file_left', { error: toHubError(error).message });
}
