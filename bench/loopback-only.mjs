// Preloaded into a contender that has no option for the address it listens on: a benchmark opens nothing to the
// network. Only the number of the port is left of what it asked for.
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  if (typeof port !== 'number') return listen.call(this, port, ...rest);
  return listen.call(this, { port, host: '127.0.0.1' }, ...rest.filter((value) => typeof value === 'function'));
};
