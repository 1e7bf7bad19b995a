/** Echo over streamable HTTP: `node echo-http.mjs [--era legacy|modern|both] [--sse] [--sessions] [--port N]`. */
import { parseArgs } from 'node:util';
import { createEchoServer } from './raw/echo-tools.mjs';
import { serveHttp } from './raw/serve-http.mjs';

const { values } = parseArgs({
  options: {
    era: { type: 'string', default: 'both' },
    port: { type: 'string', default: '0' },
    sse: { type: 'boolean', default: false },
    sessions: { type: 'boolean', default: false },
  },
});

await serveHttp(createEchoServer('echo-http', 'http'), { ...values, port: Number(values.port) });
