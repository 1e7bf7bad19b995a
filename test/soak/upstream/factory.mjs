import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { createBoard } from '../../servers/matrix/board.mjs';
import { registerPrompts } from '../../servers/matrix/prompts.mjs';
import { registerQuestionTools } from '../../servers/matrix/server-request-tools.mjs';
import { registerResources } from './resources.mjs';
import { registerTools } from './tools.mjs';

/** Makes the instances of one upstream process: one for each connection, or for each request of the modern HTTP one. */
export function createUpstreamFactory({ era, label, executed, manner }) {
  // The same in each life of the server: a client may come again after it was killed.
  const codec = createRequestStateCodec({ key: createHash('sha256').update(label).digest() });
  const board = createBoard(label);

  function make({ keep }) {
    const listed = { listChanged: true };
    const server = new McpServer(
      { name: label, version: '1.0.0' },
      {
        capabilities: {
          tools: listed,
          prompts: listed,
          resources: { subscribe: true, ...listed },
          logging: {},
          completions: {},
        },
        requestState: { verify: codec.verify },
      },
    );
    recordExecutions(server, { label, executed, manner });
    registerTools(server, { label, board });
    registerQuestionTools(server, { era, label, codec });
    registerResources(server, label);
    registerPrompts(server, label);
    board.attach(server, { era, keep });
    return server;
  }

  return { make, board };
}

/** One line for each call, in one write, before anything of it is answered. */
function recordExecutions(server, { label, executed, manner }) {
  const register = server.registerTool.bind(server);
  server.registerTool = (tool, config, run) =>
    register(tool, config, async (args, ctx) => {
      manner.before?.();
      // A client that comes again with what it was asked for makes the same call, not another one.
      const again = ctx.mcpReq.requestState?.() !== undefined;
      if (!again) appendFileSync(executed, `${JSON.stringify({ server: label, tool, nonce: args.nonce })}\n`);
      await manner.during?.();
      return run(args, ctx);
    });
}
