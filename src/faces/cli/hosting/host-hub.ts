import { type Logger, toHubError } from '../../../base/index.ts';
import { createTokenBook, sameSecret, type TokenBook, type TokenStore } from '../../../governance/index.ts';
import type { Hub, HubMeter } from '../../../hub/index.ts';
import {
  createFileTokenStore,
  ensureAdminToken,
  type HubRole,
  putAdminToken,
  removeServeFile,
  type WorkspaceLayout,
  writeServeFile,
} from '../../../storage/index.ts';
import { type ApiDeps, type ApiHandler, createApi } from '../../api/index.ts';
import { actsInHub } from '../acts/acts-in-hub.ts';
import { recordTokens } from '../acts/recorded-tokens.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { stateLayout } from '../hub/state-layout.ts';
import type { CliLogLevel } from '../terminal/cli-logger.ts';
import { openLocalHub } from './local-hub.ts';
import { type ControlSocket, openControl } from './open-control.ts';
import { takeWorkspace, type WorkspaceLock } from './take-workspace.ts';

/** The hub of the workspace, in this process. Other commands find it and attach to it. */
export interface HostedHub {
  readonly url: string;
  readonly hub: Hub;
  readonly logger: Logger;
  readonly control: ControlSocket;
  readonly adminTokenFile: string;
  /** Aborted when the hub is asked to end: `replaced` by another one, or `stopped`. */
  readonly leave: AbortSignal;
  /** Lets attached clients move on to the next hub, finishes calls in flight, then closes everything. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly role: HubRole;
  readonly defaultLevel: CliLogLevel;
  readonly meter?: HubMeter;
  /** Opens the port. Without it, the hub has only its control socket. */
  openPort?(parts: HostParts): Promise<OpenPort>;
}

export interface HostParts {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly logger: Logger;
  readonly api: ApiHandler;
  readonly layout: WorkspaceLayout;
  isAdmin(token: string): boolean;
  clientSessions(): number;
}

export interface OpenPort {
  readonly url: string;
  readonly clientSessions: number;
  close(): Promise<void>;
}

/** How long calls in flight may take when another hub takes over, or when a hub in the background stops. */
const drainMs = 60_000;

/** Throws STATE_LOCKED if another hub serves the workspace. */
export async function hostHub(cli: CliContext, invocation: Invocation, options: HostOptions): Promise<HostedHub> {
  const layout = stateLayout(cli, invocation.workspace);
  const lock = await takeWorkspace(cli, invocation, layout, { replaces: options.role === 'serve' });
  try {
    return await openLocked(cli, invocation, options, { layout, lock });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(
  cli: CliContext,
  invocation: Invocation,
  options: HostOptions,
  { layout, lock }: { readonly layout: WorkspaceLayout; readonly lock: WorkspaceLock },
): Promise<HostedHub> {
  const { clock, random } = cli;
  const { role, defaultLevel, meter } = options;
  const admin = await ensureAdminToken(layout, random);
  let port: OpenPort | undefined;
  const local = await openLocalHub(cli, invocation, {
    watch: true,
    discover: true,
    defaultLevel,
    ...(meter === undefined ? {} : { meter }),
    ownUrl: () => port?.url,
  });
  const { hub, logger } = local;
  // What an ended hub left unfinished is settled at once, not with the first held call.
  await hub.approvals.opened().catch((error: unknown) => {
    logger.error('approvals.not-opened', { error: toHubError(error).message });
  });
  try {
    const store = createFileTokenStore(layout, { clock, random });
    const recorded = recordTokens(actsInHub(hub.ledger, logger));
    const tokens = await createTokenBook({ clock, random, store, recorded });
    const operator = {
      isAdmin: (token: string) => sameSecret(token, admin),
      clientSessions: () => port?.clientSessions ?? 0,
    };
    const api = createApi({ ...operator, ...accepting(cli, hub), hub, tokens, clock, logger });
    port = await options.openPort?.({ ...operator, hub, tokens, logger, api, layout });
    const leave = new AbortController();
    const control = await openControl(cli, local, layout, { api, onLeave: (why) => leave.abort(why) });
    const place = { url: port?.url ?? `unix:${control.path}`, role, controlSocket: control.path };
    const entry = await writeServeFile(layout, place, random);
    hub.state.onRestored(async () => {
      await lock.takeAgain();
      await putAdminToken(layout, admin, random);
      await tokens.putBack();
      await writeServeFile(layout, place, random);
    });
    const forgetTokens = followTokens({ store, hub, tokens, logger });
    const close = async (): Promise<void> => {
      forgetTokens();
      // Its entry stays meanwhile: commands that find it wait for the next hub.
      if (role !== 'serve') await control.drain(drainMs, leave.signal.reason === 'replaced');
      await removeServeFile(layout, entry).catch((error: unknown) => logSkipped(logger, error));
      // In parallel: no new connections are accepted while calls in flight end and their results leave.
      await Promise.all([port?.close(), local.close()]);
      await control.close();
      await lock.release();
    };
    const { url } = place;
    return { url, hub, logger, control, adminTokenFile: layout.adminToken, leave: leave.signal, close };
  } catch (error) {
    await local.close();
    throw error;
  }
}

function accepting(cli: CliContext, hub: Hub): Pick<ApiDeps, 'acceptDefinitions'> {
  return {
    async acceptDefinitions(order) {
      const { acceptInHub } = await import('../lock/accept-in-hub.ts');
      await acceptInHub(cli, hub, order);
    },
  };
}

interface TokenWatchDeps {
  readonly store: TokenStore;
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly logger: Logger;
}

/**
 * Takes up tokens that another process wrote while it could not find this hub. Without the file there are none: that
 * is how all are revoked at once. Where the whole folder went, it is put back with the tokens instead.
 */
function followTokens({ store, hub, tokens, logger }: TokenWatchDeps): () => void {
  return store.onTokensChange(() => {
    if (!hub.state.isIntact()) return;
    tokens
      .reload()
      .catch((error: unknown) => logger.error('tokens.reload-failed', { error: toHubError(error).message }));
  });
}

function logSkipped(logger: Logger, error: unknown): void {
  logger.warn('serve.file-left', { error: toHubError(error).message });
}
