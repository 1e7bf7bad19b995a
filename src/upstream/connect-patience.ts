import type { Clock } from '../base/index.ts';
import type { ServerSpec } from '../domain/index.ts';
import { lostConnection, seconds } from './failures.ts';
import type { Link } from './link.ts';

/** A caller waits for a connect no longer than for an answer; the connect goes on without it. */
export function withinPatience(clock: Clock, { name, limits }: ServerSpec, link: Promise<Link>): Promise<Link> {
  const { timeoutMs } = limits;
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () =>
      reject(lostConnection(name, `it is still connecting after ${seconds(timeoutMs)}`, false).error),
    );
    void link.then(resolve, reject).finally(() => timer.cancel());
  });
}
