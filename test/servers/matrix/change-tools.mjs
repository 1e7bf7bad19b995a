import { z } from 'zod';
import { nonced, said } from './words.mjs';

/** Tools that change what the server offers, and tell those who want to know. */
export function registerChangeTools(server, { label, board }) {
  server.registerTool(
    'grow',
    {
      description: 'Adds a tool, a prompt or a resource',
      inputSchema: nonced.extend({ kind: z.enum(['tool', 'prompt', 'resource']), name: z.string() }),
    },
    ({ nonce, kind, name }) => {
      board.grow(kind, name);
      return said(`${label}:${nonce}`);
    },
  );

  server.registerTool(
    'touch',
    { description: 'Says that a resource is new', inputSchema: nonced.extend({ uri: z.string() }) },
    async ({ nonce, uri }) => {
      await board.touch(uri);
      return said(`${label}:${nonce}`);
    },
  );
}
