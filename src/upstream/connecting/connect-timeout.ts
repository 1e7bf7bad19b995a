import type { Clock } from '../../base/index.ts';
import type { ServerSpec } from '../../domain/index.ts';
import { lostConnection, seconds } from '../failures.ts';
import type { Connection } from './connection.ts';

/** A caller waits for a connection at most as long as for an answer. The attempt goes on without it. */
export function withinTimeout(
  clock: Clock,
  { name, limits }: ServerSpec,
  connection: Promise<Connection>,
): Promise<Connection> {
  const { timeoutMs } = limits;
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () =>
      reject(lostConnection(name, `it is still connecting after ${seconds(timeoutMs)}`, false).error),
    );
    void connection.then(resolve, reject).finally(() => timer.cancel());
  });
}
