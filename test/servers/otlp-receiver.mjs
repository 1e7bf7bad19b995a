/**
 * A receiver of traces: `node otlp-receiver.mjs --out FILE [--port N]`. It reads OTLP over HTTP with the protocol's own
 * definitions (Elastic's test server, of test/programs) and leaves one line of JSON per span in FILE.
 */
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { out: { type: 'string' }, port: { type: 'string', default: '0' } } });
const programs = createRequire(new URL('../programs/package.json', import.meta.url));
const { MockOtlpServer, normalizeTrace } = programs('@elastic/mockotlpserver');

let headers = {};
const server = new MockOtlpServer({
  services: ['http'],
  httpHostname: '127.0.0.1',
  httpPort: Number(values.port),
  logLevel: 'fatal',
  onRequest(request) {
    headers = request.headers;
  },
  onTrace(trace) {
    for (const { resource, scopeSpans } of normalizeTrace(trace).resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        appendFileSync(values.out, `${JSON.stringify({ ...span, resource: resource.attributes, headers })}\n`);
      }
    }
  },
});
await server.start();
process.stdout.write(`${JSON.stringify({ url: server.httpUrl })}\n`);
