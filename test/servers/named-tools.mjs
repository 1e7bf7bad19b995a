/**
 * A stdio server that offers the tools named in its arguments. Each answers with its own name, so that a call shows where
 * it arrived.
 *
 *   node named-tools.mjs NAME… [--reads NAME]… [--writes NAME]…
 *
 * Of those after --reads and --writes the server itself says that they only read, or that they write.
 */
import { parseArgs } from 'node:util';
import { invalidParams } from './raw/answer.mjs';
import { said } from './raw/echo-tools.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    reads: { type: 'string', multiple: true, default: [] },
    writes: { type: 'string', multiple: true, default: [] },
  },
});

const tools = [
  ...positionals.map((name) => tool(name)),
  ...values.reads.map((name) => tool(name, { readOnlyHint: true })),
  ...values.writes.map((name) => tool(name, { readOnlyHint: false, destructiveHint: true })),
];

serveStdio(
  {
    name: 'named-tools',
    listTools: () => ({ tools }),
    callTool({ name }) {
      if (!tools.some((each) => each.name === name)) throw invalidParams(`Unknown tool: ${name}`);
      return said(name);
    },
  },
  'legacy',
);

function tool(name, annotations) {
  const definition = { name, description: `Says ${name}`, inputSchema: { type: 'object' } };
  return annotations === undefined ? definition : { ...definition, annotations };
}
