import { connect, type Socket } from 'node:net';

export interface Talk {
  /** Everything that was received. */
  readonly text: string;
  /** The other side ended or reset the connection. Otherwise the time ran out. */
  readonly closed: boolean;
}

/** A part to write. A number is a pause in milliseconds. */
export type Said = string | Buffer | number;

/** A connection without an HTTP client: writes the parts, then reads until the other side closes. */
export function talk(origin: string, said: readonly Said[], timeoutMs = 10_000): Promise<Talk> {
  const socket = connectTo(origin);
  return new Promise((resolve) => {
    let text = '';
    let closed = false;
    const timer = setTimeout(finish, timeoutMs);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      closed = true;
      finish();
    });
    void say(socket, said);
    function finish(): void {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    }
  });
}

export function connectTo(origin: string, options: { readonly allowHalfOpen?: boolean } = {}): Socket {
  const { hostname, port } = new URL(origin);
  return connect({ host: hostname, port: Number(port), ...options });
}

async function say(socket: Socket, said: readonly Said[]): Promise<void> {
  for (const part of said) {
    if (typeof part === 'number') await new Promise((resolve) => setTimeout(resolve, part));
    else if (socket.writable) socket.write(part);
  }
}

/** The status of each response in a text, in order. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
}
