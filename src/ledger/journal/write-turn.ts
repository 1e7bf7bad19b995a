import type { HubError } from '../../base/index.ts';

/** All calls of one event loop turn share one write, and succeed or fail with it. */
export interface WriteTurn {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: HubError): void;
}

export function createWriteTurn(): WriteTurn {
  let resolve: () => void = () => {};
  let reject: (error: HubError) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
