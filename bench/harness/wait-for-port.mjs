import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export async function waitForPort(port, limitMs) {
  for (const end = Date.now() + limitMs; Date.now() < end; await sleep(20)) {
    if (await accepts(port)) return;
  }
  throw new Error(`nothing listened on port ${port} within ${limitMs / 1000} s`);
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
