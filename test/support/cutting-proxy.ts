import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy that breaks the connections between a client and a server on demand. */
export interface CuttingProxy {
  /** The server's URL, through the proxy. */
  readonly url: string;
  /** Breaks every open connection, even in the middle of a response. New connections are accepted. */
  cut(): void;
  /** How many connections were broken. */
  readonly broken: number;
}

export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port, pathname } = new URL(target);
  const open = new Set<Socket>();
  let broken = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    open.add(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.on('error', () => {});
      one.once('close', () => {
        other.destroy();
        open.delete(near);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  function cut(): void {
    broken += open.size;
    for (const socket of open) socket.resetAndDestroy();
  }
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`, // a TCP server has a port
    cut,
    get broken() {
      return broken;
    },
  };
}
