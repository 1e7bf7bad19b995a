/**
 * An upstream of the soak: a server of one era that signs each answer with its label and the call's nonce, and writes
 * down each call that it executed before it answers.
 *
 *   node upstream.mjs --label NAME --era legacy|modern --manner MANNER --executed FILE (--stdio | --http PORT)
 *
 * MANNER is plain, or how it misbehaves: crashes, hangs, floods, garbage.
 */
import { parseArgs } from 'node:util';
import { serveLegacyHttp, serveLegacyStdio, serveModernHttp, serveModernStdio } from '../servers/matrix/serve.mjs';
import { createUpstreamFactory } from './upstream/factory.mjs';
import { createManner } from './upstream/manner.mjs';

const { values } = parseArgs({
  options: {
    label: { type: 'string' },
    era: { type: 'string' },
    manner: { type: 'string', default: 'plain' },
    executed: { type: 'string' },
    stdio: { type: 'boolean', default: false },
    http: { type: 'string', default: '0' },
  },
});
const { label, era, executed, stdio } = values;
const manner = createManner(values.manner, { stdio });
const made = createUpstreamFactory({ era, label, executed, manner });
manner.start?.(made.board, label);

if (stdio) await (era === 'legacy' ? serveLegacyStdio(made) : serveModernStdio(made));
else await (era === 'legacy' ? serveLegacyHttp : serveModernHttp)(made, Number(values.http));
