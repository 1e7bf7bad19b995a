import { z } from 'zod';
import { nonced, said } from './words.mjs';

const levels = ['debug', 'info', 'notice', 'warning', 'error'];

/** Tools about one call: its answer, and what happens while it runs. */
export function registerCallTools(server, { label, board }) {
  server.registerTool(
    'echo',
    { description: 'Says the nonce back', inputSchema: nonced, annotations: { readOnlyHint: true } },
    ({ nonce }) => said(`${label}:${nonce}`),
  );

  server.registerTool(
    'structured',
    {
      description: 'Answers with a value',
      inputSchema: nonced,
      outputSchema: z.object({ label: z.string(), nonce: z.string(), length: z.number() }),
    },
    ({ nonce }) => {
      const value = { label, nonce, length: nonce.length };
      return { ...said(JSON.stringify(value)), structuredContent: value };
    },
  );

  server.registerTool(
    'steps',
    { description: 'Reports each step', inputSchema: nonced.extend({ count: z.number().int() }) },
    async ({ nonce, count }, ctx) => {
      for (let step = 1; step <= count; step++) await report(ctx, step, count, `${label}:${nonce}:${step}`);
      return said(`${label}:${nonce}`);
    },
  );

  server.registerTool(
    'hang',
    { description: 'Reports one step, and runs until it is cancelled', inputSchema: nonced },
    async ({ nonce }, ctx) => {
      const { signal } = ctx.mcpReq;
      await report(ctx, 1, 2, `${label}:${nonce}:hangs`);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      board.cancelled.push(nonce);
      return said(`${label}:${nonce}`);
    },
  );

  server.registerTool(
    'cancelled',
    { description: 'Lists the nonces of what was cancelled', annotations: { readOnlyHint: true } },
    () => said(JSON.stringify({ label, nonces: board.cancelled })),
  );

  server.registerTool('chatty', { description: 'Logs at every level', inputSchema: nonced }, async ({ nonce }, ctx) => {
    for (const level of levels) await ctx.mcpReq.log(level, `${label}:${nonce}:${level}`, label);
    return said(`${label}:${nonce}`);
  });
}

async function report(ctx, progress, total, message) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } });
}
