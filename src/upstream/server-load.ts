import type { ServerLoad } from '../domain/index.ts';

export function sumOfLoads(a: ServerLoad, b: ServerLoad): ServerLoad {
  return {
    name: a.name,
    connections: a.connections + b.connections,
    underWay: a.underWay + b.underWay,
    waiting: a.waiting + b.waiting,
    queuedBytes: a.queuedBytes + b.queuedBytes,
  };
}
