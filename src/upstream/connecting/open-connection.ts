import { settlesWithin } from '../../base/index.ts';
import { packageRunner } from '../../domain/index.ts';
import type { TransportEvents } from '../transport.ts';
import { streamReopened } from '../transports/change-stream.ts';
import type { ConnectionDeps, ConnectionEvents, ConnectionOptions, ConnectionOutcome } from './connection.ts';
import { LiveConnection, type RefusalFlag } from './live-connection.ts';
import { openFirstTransport } from './transport-fallback.ts';

/** A server that takes longer for the handshake counts as unavailable. */
const handshakeTimeoutMs = 30_000;
/** The same for a server that a package runner may have to download first. */
const downloadTimeoutMs = 60_000;
/** How long an isolated connection waits for its change stream. */
const changeStreamWaitMs = 2000;

/** Opens the first configured transport that works and agrees on a protocol version with the server. */
export async function openConnection(deps: ConnectionDeps, options: ConnectionOptions): Promise<ConnectionOutcome> {
  const { clock } = deps;
  const refusal: RefusalFlag = { isRefused: false };
  let connection: LiveConnection | undefined;
  const acknowledged = (params: Readonly<Record<string, unknown>>): void => connection?.acknowledged(params);
  const events = transportEvents(deps.events, refusal, acknowledged);
  const timeoutMs = packageRunner(options.spec) === undefined ? handshakeTimeoutMs : downloadTimeoutMs;
  const outcome = await openFirstTransport({ ...deps, events }, { ...options, timeoutMs });
  if (outcome.kind === 'failed') return outcome;
  connection = new LiveConnection(deps, options, { ...outcome, refusal });
  // Some servers send requests on that stream, and lose those that they send before it is open.
  if (options.terms?.exclusive === true && connection.changeStreamSettled !== undefined) {
    await settlesWithin(clock, changeStreamWaitMs, connection.changeStreamSettled);
  }
  return { kind: 'connected', connection, via: outcome.via };
}

/** Turns the transport's notifications into the connection's events. They may arrive before the handshake is over. */
function transportEvents(
  events: ConnectionEvents,
  refusal: RefusalFlag,
  acknowledged: (params: Readonly<Record<string, unknown>>) => void,
): TransportEvents {
  return {
    onNotification(method, params) {
      if (listChanges.has(method)) events.onListChanged();
      else if (method === 'notifications/resources/updated') events.onResourceUpdated(params);
      else if (method === 'notifications/subscriptions/acknowledged') acknowledged(params);
      else if (method === streamReopened) events.onGap();
      else if (method === 'notifications/elicitation/complete') events.onNotice(method, params);
    },
    onLost: events.onLost,
    onRefused(error) {
      refusal.isRefused = true;
      events.onRefused(error);
    },
  };
}

const listChanges: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
]);
