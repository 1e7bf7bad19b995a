/**
 * A stdio server that answers as it is told: `give` and `fetch` return the result in their arguments, `fail` answers with
 * a JSON-RPC error of that message and data.
 *
 *   node given-results.mjs
 */
import { serveStdio } from './raw/serve-stdio.mjs';

const tools = ['give', 'fetch', 'fail'].map((name) => ({ name, inputSchema: { type: 'object' } }));

serveStdio(
  {
    name: 'given-results',
    listTools: () => ({ tools }),
    callTool({ name, arguments: args }) {
      if (name !== 'fail') return args.result;
      throw Object.assign(new Error(args.message), { rpcCode: -32000, rpcData: args.data });
    },
  },
  'legacy',
);
