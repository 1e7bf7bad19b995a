import { HubError, sleep, toHubError } from '../../../base/index.ts';
import { type Attached, type AttachOrder, readOutcome } from '../../attach/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import type { HostedHub } from '../hosting/host-hub.ts';
import { variableNotes } from '../hosting/variable-digests.ts';
import { attachToHub } from './attach-to-hub.ts';
import { startBackgroundHub, stoppedWaiting } from './start-background.ts';

/** The hub of the workspace, wherever it runs. */
export interface JoinedHub {
  /** Opens a connection to it; if it is gone, to the next one. */
  attach(order: HubOrder, options?: AttachOptions): Promise<Attached>;
  /** Has it do something for the operator. */
  operate(request: HubOperation, stop?: AbortSignal): Promise<unknown>;
  /** Ends the hub if it runs in this process. */
  close(): Promise<void>;
}

export interface AttachOptions {
  readonly stop?: AbortSignal | undefined;
  /** Another hub is about to start, so none is started here for a while. */
  readonly replaced?: boolean | undefined;
}

export type HubOrder = Omit<AttachOrder, 'workspace'>;

export interface HubOperation {
  readonly name: string;
  readonly params: object;
  /** The agent that it concerns, if any. */
  readonly agent?: string;
  /** How long the hub may say nothing. */
  readonly timeoutMs?: number;
  onEvent?(event: unknown): void;
}

export interface JoinOptions {
  /** If no hub runs, one runs in this process instead of in the background. */
  readonly foreground: boolean;
  /** Receives what a person should know about the hub. */
  note(text: string): void;
}

/** Longer than a hub takes to stop, or to make room for another one. */
const joinMs = 90_000;
/** How long a hub may have the workspace without an entry: it starts, or it keeps its state in another folder. */
const lockedMs = 15_000;
/** How long to wait for a hub that was announced. */
const replacedMs = 15_000;
const pollMs = 50;
const maxLineBytes = 64 * 1024 * 1024;
const operationMs = 120_000;

/** In CI and in containers, a hub in the background would only outlive its job. */
export function runsInForeground({ env }: Pick<CliContext, 'env'>, foreground: boolean | undefined): boolean {
  return foreground === true || isOn(env.QM_FOREGROUND) || isOn(env.CI);
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', 'false', '0'].includes(value);
}

/** Joins the hub of the workspace, or starts it. */
export function joinHub(cli: CliContext, invocation: Invocation, options: JoinOptions): JoinedHub {
  return new HubJoiner(cli, invocation, options);
}

class HubJoiner implements JoinedHub {
  readonly #cli: CliContext;
  readonly #invocation: Invocation;
  readonly #options: JoinOptions;
  readonly #noted = new Set<string>();
  /** The hub, if it runs in this process. */
  #hosted: HostedHub | undefined;
  #left: Promise<void> | undefined;
  /** When another hub asked the one in this process to make room. */
  #replacedAt = Number.NEGATIVE_INFINITY;

  constructor(cli: CliContext, invocation: Invocation, options: JoinOptions) {
    this.#cli = cli;
    this.#invocation = invocation;
    this.#options = options;
  }

  async attach(order: HubOrder, { stop, replaced = false }: AttachOptions = {}): Promise<Attached> {
    const { clock } = this.#cli;
    const startedAt = clock.monotonic();
    for (;;) {
      try {
        const attached = await attachToHub(this.#cli, this.#invocation, order);
        if (attached !== undefined) return this.#note(attached);
        const announcedAt = replaced ? Math.max(startedAt, this.#replacedAt) : this.#replacedAt;
        if (clock.monotonic() - announcedAt >= replacedMs) {
          await this.#start(stop);
          continue;
        }
      } catch (error) {
        // Another command was faster, or the hub that was found is stopping.
        const { code, details } = toHubError(error);
        const limitMs = code === 'HUB_STOPPING' ? joinMs : details.served === true ? lockedMs : 0;
        if (clock.monotonic() - startedAt >= limitMs) throw error;
      }
      await sleep(clock, pollMs, stop);
      if (stop?.aborted === true) throw stoppedWaiting();
    }
  }

  async operate(operation: HubOperation, stop?: AbortSignal): Promise<unknown> {
    const { name, params, agent = 'operator', timeoutMs = operationMs, onEvent } = operation;
    const attached = await this.attach({ agent, operation: { name, params } }, { stop });
    const onStop = (): void => void attached.socket.destroy();
    stop?.addEventListener('abort', onStop, { once: true });
    if (stop?.aborted === true) onStop();
    const events = onEvent === undefined ? {} : { onEvent };
    try {
      return await readOutcome(attached, this.#cli.clock, { maxBytes: maxLineBytes, timeoutMs, ...events });
    } catch (error) {
      throw stop?.aborted === true ? new HubError('CANCELLED', 'Stopped while waiting for servers.') : error;
    } finally {
      stop?.removeEventListener('abort', onStop);
    }
  }

  async close(): Promise<void> {
    await this.#left;
    await this.#hosted?.close();
  }

  async #start(stop: AbortSignal | undefined): Promise<void> {
    if (!this.#options.foreground) {
      await startBackgroundHub(this.#cli, this.#invocation, stop);
      return;
    }
    const { hostHub } = await import('../hosting/host-hub.ts');
    const own = await hostHub(this.#cli, this.#invocation, { role: 'command', defaultLevel: 'error' });
    this.#hosted = own;
    const onLeave = (): void => {
      if (this.#hosted !== own) return;
      this.#hosted = undefined;
      if (own.leave.reason === 'replaced') this.#replacedAt = this.#cli.clock.monotonic();
      this.#left = own.close();
    };
    own.leave.addEventListener('abort', onLeave);
    if (own.leave.aborted) onLeave();
  }

  /** Says each thing once, however often the command attaches. */
  #note(attached: Attached): Attached {
    const { variables } = attached;
    for (const text of variables === undefined ? [] : variableNotes(variables, this.#cli.env)) {
      if (!this.#noted.has(text)) this.#options.note(text);
      this.#noted.add(text);
    }
    return attached;
  }
}

/** Runs a command that needs the hub. Notes go to stderr. */
export async function withHub<T>(
  cli: CliContext,
  invocation: Invocation,
  { foreground }: { readonly foreground?: boolean | undefined },
  work: (hub: JoinedHub) => Promise<T>,
): Promise<T> {
  const { terminal } = cli;
  const hub = joinHub(cli, invocation, {
    foreground: runsInForeground(cli, foreground),
    note: (text) => terminal.err(`${terminal.errColours.yellow('warning')} ${text}`),
  });
  try {
    return await work(hub);
  } finally {
    terminal.progress('');
    await hub.close();
  }
}
