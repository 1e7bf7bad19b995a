/**
 * A server of one era that offers all of MCP and signs whatever it says: each answer, question, step and log line
 * holds the label of the server and the nonce of the request that it belongs to.
 *
 *   node matrix.mjs --era legacy|modern --label NAME --http PORT     (0, the default, takes a free port; prints {"url"})
 *   node matrix.mjs --era legacy|modern --label NAME --stdio
 */
import { parseArgs } from 'node:util';
import { createFactory } from './matrix/factory.mjs';
import { serveLegacyHttp, serveLegacyStdio, serveModernHttp, serveModernStdio } from './matrix/serve.mjs';

const { values } = parseArgs({
  options: {
    era: { type: 'string' },
    label: { type: 'string' },
    http: { type: 'string' },
    port: { type: 'string' },
    stdio: { type: 'boolean', default: false },
  },
});
const { era, label } = values;
if ((era !== 'legacy' && era !== 'modern') || label === undefined) {
  throw new Error('matrix.mjs needs --era legacy or --era modern, and --label NAME.');
}

const made = createFactory({ era, label });
const port = Number(values.port ?? values.http ?? 0);
if (values.stdio) await (era === 'legacy' ? serveLegacyStdio(made) : serveModernStdio(made));
else await (era === 'legacy' ? serveLegacyHttp(made, port) : serveModernHttp(made, port));
