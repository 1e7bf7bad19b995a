// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { createFileSecretStore } from '../../../src/storage/index.ts';
import { openMemoryStage } from '../../../src/storage/keychain/keychain.fixture.ts';
import {
  type HttpServer,
  type Received,
  sendJsonReply,
  serveHttp,
} from '../../../src/upstream/transports/http-server.fixture.ts';
import { createSecretBook, type SecretBook } from '../../../src/vault/index.ts';
import { openStage, stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const clock = createSystemClock();

const bookOf = (workspace: string): SecretBook =>
  createSecretBook({ clock, random: systemRandom, store: createFileSecretStore(layoutOf(workspace)) });

/** A server with one tool that answers with the key it was called with. */
function serveKeyed(): Promise<HttpServer> {
  return serveHttp(({ request, response, message }: Received) => {
    if (message.id === undefined) return void response.writeHead(202).end();
    const result = resultOf(String(message.method), String(request.headers['x-key']));
    sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, ...result });
  });
}

function resultOf(method: string, key: string): object {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'keyed', version: '1' },
        },
      };
    case 'tools/list':
      return { result: { tools: [{ name: 'key', inputSchema: { type: 'object' } }] } };
    case 'tools/call':
      return { result: { content: [{ type: 'text', text: key }] } };
    default:
      return { error: { code: -32601, message: 'unknown' } };
  }
}

const initializations = ({ received }: HttpServer): number =>
  received.filter(({ message }) => message.method === 'initialize').length;

test(
  verifies('secrets:live', 'a changed secret is in the next request, over the connection that there is'),
  async () => {
    const stage = await openStage();
    const remote = await serveKeyed();
    const book = bookOf(stage.workspace);
    await book.set('KEY', 'first-value-0001');
    await stage.start({ servers: { remote: { url: remote.url, headers: { 'X-Key': '${KEY}' } } } }, { watch: true });
    await stage.names();
    expect(await stage.say('remote_key')).toBe('first-value-0001');
    const before = initializations(remote);

    await book.set('KEY', 'second-value-0002');
    await eventually(
      () => (stage.hub.configuration.secrets.includes('second-value-0002') ? true : undefined),
      'the change',
    );
    expect(await stage.say('remote_key')).toBe('second-value-0002');
    await book.rotate();
    expect(await stage.say('remote_key')).toBe('second-value-0002');
    expect(initializations(remote)).toBe(before);
    const records = JSON.stringify([await stage.ledger(), stage.log]);
    expect(records).not.toMatch(/first-value|second-value/);
  },
);

test(
  verifies('secrets:live', 'the first secret of a workspace readies a server, and its removal ends it'),
  async () => {
    const stage = await openStage();
    const book = bookOf(stage.workspace);
    const up = stdioServer('echo-stdio.mjs', [], { env: { API_TOKEN: '${KEY}' } });
    await stage.start({ servers: { up } }, { watch: true });
    expect(stage.status('up')).toMatchObject({ state: 'invalid' });
    await book.set('KEY', 'first-value-0001');
    await eventually(() => (stage.status('up').state === 'invalid' ? undefined : true), 'the server to be ready');
    await stage.names();
    expect(await stage.say('up_env', { name: 'API_TOKEN' })).toBe('first-value-0001');
    await book.remove('KEY');
    await eventually(() => (stage.status('up').state === 'invalid' ? true : undefined), 'the server to be invalid');
  },
);

test(
  verifies('secrets:first', 'a damaged store lets no hub start, and keeps the values of a running one'),
  async () => {
    const stage = await openStage();
    const remote = await serveKeyed();
    const config = { servers: { remote: { url: remote.url, headers: { 'X-Key': '${KEY}' } } } };
    await bookOf(stage.workspace).set('KEY', 'first-value-0001');
    await writeFile(stage.path('.env'), 'KEY=of-the-file\n');
    await stage.start(config);
    await stage.names();
    const { secrets } = layoutOf(stage.workspace);
    await writeFile(secrets, (await readFile(secrets, 'utf8')).replace('"KEY"', '"YEK"'));
    await expect(stage.hub.reload()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await stage.say('remote_key')).toBe('first-value-0001');
    await stage.stop();
    await expect(stage.start(config)).rejects.toThrow(/secrets in .* cannot be read/);
  },
);

test(
  verifies('secrets:no-way-back', 'a running hub keeps its values when the store goes back or goes away'),
  async () => {
    const stage = await openStage();
    const remote = await serveKeyed();
    const book = bookOf(stage.workspace);
    await book.set('KEY', 'first-value-0001');
    const { secrets } = layoutOf(stage.workspace);
    const earlier = await readFile(secrets, 'utf8');
    await book.set('KEY', 'second-value-0002');
    await stage.start({ servers: { remote: { url: remote.url, headers: { 'X-Key': '${KEY}' } } } });
    await stage.names();
    await writeFile(secrets, earlier);
    await expect(stage.hub.reload()).rejects.toThrow(/an earlier version of the file is back/);
    expect(await stage.say('remote_key')).toBe('second-value-0002');
    await writeFile(stage.path('.env'), 'KEY=of-the-file\n');
    await rm(secrets);
    await expect(stage.hub.reload()).rejects.toThrow(/the file is gone/);
    expect(await stage.say('remote_key')).toBe('second-value-0002');
    await bookOf(stage.workspace).set('KEY', 'third-value-0003');
    await stage.hub.reload();
    expect(await stage.say('remote_key')).toBe('third-value-0003');
  },
);

test(
  verifies('secrets:keychain-refuses', 'without its keychain no hub starts, and a running one keeps its values'),
  async () => {
    const stage = await openStage();
    const remote = await serveKeyed();
    const { keychain } = await openMemoryStage();
    const book = createSecretBook({
      clock,
      random: systemRandom,
      store: createFileSecretStore(layoutOf(stage.workspace), { keychain }),
    });
    await book.set('KEY', 'first-value-0001');
    const config = { servers: { remote: { url: remote.url, headers: { 'X-Key': '${KEY}' } } } };
    // This hub has no way to the keychain: its environment has no D-Bus.
    await expect(stage.start(config)).rejects.toThrow(/their key is in the keychain/);
    await book.rotate('file');
    await stage.start(config);
    await stage.names();
    await book.rotate('keychain');
    await expect(stage.hub.reload()).rejects.toThrow(/their key is in the keychain/);
    expect(await stage.say('remote_key')).toBe('first-value-0001');
  },
);
