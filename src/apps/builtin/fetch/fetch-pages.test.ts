import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSilentLogger, createSystemClock } from '../../../base/index.ts';
import type { BuiltinServer } from '../builtin-kind.ts';
import { fetchPages } from './fetch-pages.ts';
import { listen } from './web.fixture.ts';

test('an inner page is fetched over a real connection, by who may', async () => {
  const agents: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    agents.push(headers['user-agent']);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Inner</h1>');
  });
  const port = await listen(server);
  for (const host of ['127.0.0.1', 'localhost']) {
    const fetch = await open('--allow', `${host}:${port}`, '--user-agent', 'Tester/1');
    expect(await call(fetch, `http://${host}:${port}/`)).toMatch(/Status 200, text\/html, 14 bytes\n\n# Inner$/);
    await fetch.close();
  }
  const guarded = await open();
  for (const host of ['127.0.0.1', 'localhost']) {
    await expect(call(guarded, `http://${host}:${port}/`)).rejects.toThrow(/not (a )?public/);
  }
  expect(agents).toEqual(['Tester/1', 'Tester/1']);
  await new Promise((resolve) => server.close(resolve));
});

test('nobody listens', async () => {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const fetch = await open('--allow', '127.0.0.1');
  await expect(call(fetch, `http://127.0.0.1:${port}/`)).rejects.toThrow(
    `http://127.0.0.1:${port}/ cannot be fetched: the server refuses connections (ECONNREFUSED).`,
  );
});

test('a certificate that nobody vouches for, and a server that speaks no TLS', async () => {
  const plain = createServer();
  const secure = createTlsServer(selfSigned());
  const ports = [await listen(plain), await listen(secure)];
  const fetch = await open('--allow', '127.0.0.1');
  await expect(call(fetch, `https://127.0.0.1:${ports[0]}/`)).rejects.toThrow(/TLS failed|does not speak TLS/);
  await expect(call(fetch, `https://127.0.0.1:${ports[1]}/`)).rejects.toThrow(/the TLS connection failed/);
  await Promise.all([plain, secure].map((server) => new Promise((resolve) => server.close(resolve))));
});

test.each([
  [['--allow', 'http://a/'], /--allow takes a host or host:port/],
  [['--allow', ''], /--allow takes a host/],
  [['--timeout', '0'], /--timeout must be/],
  [['--max-bytes', '10'], /--max-bytes must be/],
  [['--max-redirects', '-1'], /--max-redirects/],
  [['--user-agent', 'a\r\nX: y'], /--user-agent must be/],
  [['--proxy', 'x'], /arguments of the built-in server fetch are invalid/],
])('options that are wrong: %j', async (args, message) => {
  await expect(open(...args)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(message) });
});

function open(...args: string[]): Promise<BuiltinServer> {
  return fetchPages.open({ args, env: {}, cwd: '/' }, { clock: createSystemClock(), logger: createSilentLogger() });
}

async function call({ tools }: BuiltinServer, url: string): Promise<string> {
  const tool = tools.find(({ name }) => name === 'fetch_markdown');
  if (tool === undefined) throw new Error('no such tool');
  return (await tool.run(tool.input.parse({ url }), { signal: new AbortController().signal })).text;
}

function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'qm-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=localhost',
  ];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return made;
}
