import { z } from 'zod';
import { nonced, said } from '../../servers/matrix/words.mjs';
import { bigText } from './big-text.mjs';

const repeatable = { readOnlyHint: true };

/** Tools that say which call they answer. Only `echo` and `lookup` may be run twice for one call. */
export function registerTools(server, { label, board }) {
  const owners = new Set();
  const add = (name, schema, run, annotations = {}) =>
    server.registerTool(name, { description: `${name} of ${label}`, inputSchema: schema, annotations }, run);

  add('echo', nonced.extend({ text: z.string() }), ({ nonce, text }) => said(`${label}:${nonce}:${text}`), repeatable);
  add('lookup', nonced, ({ nonce }) => said(`${label}:${nonce}:found`), repeatable);
  for (const name of ['write', 'secret', 'danger', 'toggled']) {
    add(name, nonced, ({ nonce }) => said(`${label}:${nonce}:${name}`));
  }
  add('nap', nonced.extend({ ms: z.number() }), async ({ nonce, ms }, ctx) => {
    await nap(ms, ctx.mcpReq.signal);
    return said(`${label}:${nonce}:${ms}`);
  });
  add('steps', nonced.extend({ count: z.number() }), async ({ nonce, count }, ctx) => {
    for (let step = 1; step <= count; step++) await report(ctx, step, count, `${label}:${nonce}:${step}`);
    return said(`${label}:${nonce}:${count}`);
  });
  add('big', nonced.extend({ bytes: z.number() }), ({ nonce, bytes }) => said(bigText(label, nonce, bytes)));
  // Everybody who ever spoke over this connection: with isolation, one.
  add('mine', nonced.extend({ owner: z.string() }), ({ nonce, owner }) => {
    owners.add(owner);
    return said(`${label}:${nonce}:${[...owners].join()}`);
  });
  add('touch', nonced.extend({ uri: z.string() }), async ({ nonce, uri }) => {
    await board.touch(uri);
    return said(`${label}:${nonce}:touched`);
  });
}

function nap(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
  });
}

async function report(ctx, progress, total, message) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } });
}
