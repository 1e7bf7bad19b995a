import { z } from 'zod';
import { type Clock, HubError, sleep } from '../../../base/index.ts';
import type { Hub, ServerLogLine } from '../../../hub/index.ts';
import type { OperationRequest } from '../../control/index.ts';

const paramsSchema = z.object({
  server: z.string(),
  lines: z.number().int().positive(),
  follow: z.boolean(),
  /** Lines of earlier processes too. */
  all: z.boolean(),
});

export const serverLogSchema = z.object({
  lines: z.array(z.object({ seq: z.number(), at: z.number(), pid: z.number(), text: z.string() })),
  /** Lines that were dropped before these, since the last ones. */
  missed: z.number(),
  /** Kept lines of earlier processes that are not among these. */
  earlier: z.number(),
  /** The error in the server's state, for one that never started. */
  error: z.string().nullable(),
});

export type ServerLogPart = z.infer<typeof serverLogSchema>;

/** Bursts are told together. */
const burstMs = 50;

/** The last stderr lines of a server; with `follow`, also those that come, until the client leaves. */
export async function readServerLog(
  { clock }: { readonly clock: Clock },
  hub: Hub,
  request: Pick<OperationRequest, 'params' | 'signal' | 'tell' | 'drained'>,
): Promise<ServerLogPart> {
  const { server, lines, follow, all } = paramsSchema.parse(request.params);
  const { signal, tell, drained } = request;
  if (!hub.configuration.servers.has(server)) {
    throw new HubError('SERVER_UNKNOWN', `The running hub does not use a server "${server.slice(0, 80)}".`, {
      hint: '`qm ls` shows why.',
    });
  }
  const error = hub.status().find(({ name }) => name === server)?.error ?? null;
  const kept = hub.serverLogs.after(server, 0);
  const last = all ? kept : sinceLastStart(kept);
  const first = { lines: last.slice(-lines), missed: 0, earlier: kept.length - last.length, error };
  if (!follow) return first;
  tell(first);
  let seq = kept.at(-1)?.seq ?? 0;
  while (!signal.aborted) {
    // A client that does not read costs no more than the kept lines.
    await drained();
    const next = hub.serverLogs.after(server, seq);
    if (next.length > 0) {
      tell({ lines: [...next], missed: missedBefore(next, seq), earlier: 0, error: null });
      seq = next.at(-1)?.seq ?? seq;
      await sleep(clock, burstMs, signal);
    } else await nextLines(hub, server, signal);
  }
  return { lines: [], missed: 0, earlier: 0, error: null };
}

/** From the first line of the process that wrote last. One that fails at each start says the same again and again. */
function sinceLastStart(lines: readonly ServerLogLine[]): readonly ServerLogLine[] {
  const pid = lines.at(-1)?.pid;
  return lines.slice(lines.findIndex((line) => line.pid === pid));
}

function missedBefore([first]: readonly ServerLogLine[], seq: number): number {
  return Math.max(0, (first?.seq ?? seq + 1) - seq - 1);
}

function nextLines({ serverLogs }: Hub, server: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      leave();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const leave = serverLogs.onLines(server, finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}
