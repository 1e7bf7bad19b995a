/**
 * A stdio server that offers the tools in a JSON file, which it reads for each list. A call answers with the tool's name.
 *
 *   node given-tools.mjs FILE
 */
import { readFileSync } from 'node:fs';
import { said } from './raw/echo-tools.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

const [file] = process.argv.slice(2);

serveStdio(
  {
    name: 'given-tools',
    listTools: () => ({
      tools: JSON.parse(readFileSync(file, 'utf8')).map((tool) => ({ inputSchema: { type: 'object' }, ...tool })),
    }),
    callTool: ({ name }) => said(name),
  },
  'legacy',
);
