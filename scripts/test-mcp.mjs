// `npm run test:mcp`: everything that speaks MCP or is spoken to, one file after the other. It takes no arguments, so
// that nothing can be left out.
import { build, runSteps, testPrograms, tests } from './steps.mjs';

const folders = [
  'src/mcp/',
  'src/upstream/',
  'src/calls/',
  'src/hub/',
  'src/faces/mcp', // and mcp-http, mcp-sse, mcp-stdio
  'src/faces/gateway/',
  'src/apps/',
  'test/servers/',
  'test/scenarios/',
];

runSteps([testPrograms, build, tests(['--no-file-parallelism', '--maxWorkers=1', ...folders])]);
