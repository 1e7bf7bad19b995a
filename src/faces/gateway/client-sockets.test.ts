import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { createSilentLogger, createSystemClock } from '../../base/index.ts';
import { ClientSockets } from './client-sockets.ts';

const limits = { total: 100, unauthenticated: 50, unauthenticatedPerAddress: 3, perOwner: 10 };

/** A server whose connections come from the address that the test names: those of a test are all of this machine. */
async function listen() {
  const http = createHttpServer();
  const connections = new ClientSockets(
    http,
    { clock: createSystemClock(), logger: createSilentLogger() },
    { limits, unauthenticatedMs: 60_000 },
  );
  const addresses: string[] = [];
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    Object.defineProperty(socket, 'remoteAddress', { value: addresses.shift() });
    accepted.push(socket);
    http.emit('connection', socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  onTestFinished(() => {
    connections.close();
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  return async (address: string): Promise<Socket> => {
    addresses.push(address);
    const count = accepted.length;
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.resume();
    onTestFinished(() => void socket.destroy());
    await eventually(() => (accepted.length > count ? true : undefined), 'the connection');
    return socket;
  };
}

const isOpen = (socket: Socket): boolean => !socket.destroyed;
const ended = (socket: Socket): Promise<unknown> =>
  within(new Promise((resolve) => (socket.destroyed ? resolve(0) : socket.once('close', resolve))), 'its end', 10_000);

test(
  verifies('http:connection-bounds', 'one address without a token makes room for itself, not for others'),
  async () => {
    const open = await listen();
    const other = await open('192.0.2.2');
    const own: Socket[] = [];
    for (let count = 0; count < 6; count++) own.push(await open('192.0.2.1'));
    await Promise.all(own.slice(0, 3).map(ended));
    expect([other, ...own].map(isOpen)).toEqual([true, false, false, false, true, true, true]);
  },
);

test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
  'connections of this machine (%s) share no such limit',
  async (own) => {
    const open = await listen();
    const all: Socket[] = [];
    for (let count = 0; count < 6; count++) all.push(await open(own));
    const stranger = [];
    for (let count = 0; count < 4; count++) stranger.push(await open('192.0.2.1'));
    await ended(stranger[0] as Socket); // the first of four
    expect(all.map(isOpen)).toEqual(all.map(() => true));
  },
);
