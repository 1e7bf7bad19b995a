import { unwatchFile, watchFile } from 'node:fs';
import { HubError, type Logger, toHubError } from '../../base/index.ts';
import { createTokenBook, sameSecret, type TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  acquireLock,
  createFileTokenStore,
  ensureAdminToken,
  type HeldLock,
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
  const lock = await takeWorkspace(cli, layout);
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
  lock: HeldLock,
): Promise<Serve> {
  const { clock, random } = cli;
  const admin = await ensureAdminToken(layout, random);
  const meter = createMeter();
  const local = await openLocalHub(cli, invocation, { watch: true, discover: true, defaultLevel: 'info', meter });
  const { hub, logger } = local;
  try {
    for (const warning of admin.warnings) logger.warn('admin_token', { warning });
    const tokens = await createTokenBook({ clock, random, store: createFileTokenStore(layout, { clock, random }) });
    let gateway: Gateway | undefined;
    const operator = {
      hub,
      isAdmin: (token: string) => sameSecret(token, admin.token),
      clientSessions: () => gateway?.clientSessions ?? 0,
    };
    const api = createApi({ ...operator, tokens, logger });
    const metrics = createMetrics({ ...operator, meter, clock });
    gateway = await openGateway({ hub, tokens, clock, logger, random, api, metrics }, options);
    const url = reachable(gateway.url);
    const entry = await writeServeFile(layout, url, random);
    const forgetTokens = watchTokens(layout, tokens, logger);
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

/** One hub per workspace: two would not hear of each other's revocations. */
async function takeWorkspace({ clock, random }: CliContext, layout: WorkspaceLayout): Promise<HeldLock> {
  try {
    return await acquireLock(layout, 'hub', { clock, random, waitMs: 0 });
  } catch (error) {
    const known = toHubError(error);
    if (known.code !== 'STATE_LOCKED') throw known;
    const running = await readServeFile(layout).catch(() => undefined);
    const pid = running?.pid ?? known.details.pid;
    const where = running === undefined ? '' : ` at ${running.url}`;
    throw new HubError('STATE_LOCKED', `A hub already serves ${layout.workspace}${where} (process ${String(pid)}).`, {
      hint: 'Use that one, or stop it first.',
      cause: known,
      details: known.details,
    });
  }
}

/** Nobody can connect to "every address"; on this machine, loopback is one of them. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Tokens that another process wrote while it could not find this hub. */
function watchTokens(layout: WorkspaceLayout, tokens: TokenBook, logger: Logger): () => void {
  const reload = (): void => {
    tokens.reload().catch((error: unknown) => logger.error('tokens_unreadable', { error: toHubError(error).message }));
  };
  watchFile(layout.tokens, { persistent: false, interval: 1000 }, reload);
  return () => unwatchFile(layout.tokens, reload);
}

function logSkipped(logger: Logger, error: unknown): void {
  logger.warn('serve_file_left', { error: toHubError(error).message });
}
