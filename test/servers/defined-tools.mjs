/**
 * A server over stdio whose tools are defined in a file, so that a test can change a definition between two starts.
 *
 *   node defined-tools.mjs FILE
 */
import { readFileSync } from 'node:fs';
import { said } from './raw/echo-tools.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

const [, , file] = process.argv;

serveStdio(
  {
    name: 'defined-tools',
    listTools: () => ({ tools: JSON.parse(readFileSync(file, 'utf8')) }),
    callTool: ({ name }) => said(`I am ${name}.`),
  },
  'legacy',
);
