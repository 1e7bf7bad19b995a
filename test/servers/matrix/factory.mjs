import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { createBoard } from './board.mjs';
import { registerCallTools } from './call-tools.mjs';
import { registerChangeTools } from './change-tools.mjs';
import { registerPrompts } from './prompts.mjs';
import { registerResources } from './resources.mjs';
import { registerQuestionTools } from './server-request-tools.mjs';

/**
 * Makes the McpServer instances of one process. What a real server keeps between requests is on the board, which all
 * of them share.
 *
 * @param {{ era: 'legacy' | 'modern', label: string }} identity
 */
export function createFactory({ era, label }) {
  const codec = createRequestStateCodec({ key: randomBytes(32) });
  const board = createBoard(label);

  /** @param {{ keep: boolean }} options keep: it outlives one request, so it is told of changes */
  function make({ keep }) {
    const server = new McpServer(
      { name: `matrix-${label}`, version: '1.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          logging: {},
          completions: {},
        },
        requestState: { verify: codec.verify },
        instructions: `Everything here is signed ${label}.`,
      },
    );
    registerCallTools(server, { label, board });
    registerChangeTools(server, { label, board });
    registerQuestionTools(server, { era, label, codec });
    registerResources(server, label);
    registerPrompts(server, label);
    board.attach(server, { era, keep });
    return server;
  }

  return { make, board };
}
