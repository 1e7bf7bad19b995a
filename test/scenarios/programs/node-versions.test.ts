import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { echoServer } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, modernClient, textOf } from '../../support/mcp-clients.ts';
import { programPath } from '../../support/programs.ts';
import { connectTo, talk } from '../../support/raw-socket.ts';
import { type ServedHub, servedWorkspace } from '../../support/served-hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause } from '../../support/within.ts';

/** Later versions of Node than the one that runs the tests, which is the oldest that is supported. */
test.each(['node22', 'node24'] as const)(
  verifies('http:node-versions', '%s: the product serves clients of both eras, whatever they do to a connection'),
  async (node) => {
    const version = execFileSync(programPath(node), ['--version'], { encoding: 'utf8' });
    expect(version).toContain(`v${node.slice(-2)}.`);
    const workspace = await servedWorkspace({ servers: { echo: echoServer } });
    const issued = await workspace.qm('token', 'issue', '--agent', 'tester');
    const { token } = issued as { token: string }; // as it is documented
    const hub = await workspace.serve({ node: programPath(node) });
    await serveClients(hub, token);
    await serveConnections(hub, token);
    expect(hub.log()).not.toContain('gateway.lean-requests-disabled');
    expect(await hub.kill('SIGTERM')).toBe(0);
  },
);

async function serveClients({ url }: ServedHub, token: string): Promise<void> {
  const legacy = await legacyClient(url, token);
  await eventually(async () => {
    const { message } = await legacy.request('tools/list');
    return JSON.stringify(message.result).includes('"echo"') || undefined;
  }, 'the tools');
  for (const client of [legacy, modernClient(url, token)]) {
    expect(JSON.stringify((await client.request('tools/list')).message.result)).toContain('"echo"');
    expect(textOf((await client.call('echo', { message: 'é' })).message)).toBe('é');
    const big = 'x'.repeat(1_000_000);
    expect(textOf((await client.call('echo', { message: big })).message)).toBe(big);
  }
  const slow = { name: 'echo_slow', arguments: { ms: 600_000 } };
  const call = legacy.post(JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: slow }));
  await eventually(async () => {
    const params = { requestId: 'slow', reason: 'enough' };
    await legacy.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    return Promise.race([call.then(() => true), pause(50).then(() => undefined)]);
  }, 'the cancelled call to end');
}

async function serveConnections({ url }: ServedHub, token: string): Promise<void> {
  const hello = JSON.stringify(initializeRequest());
  const posting = (body: string, ...more: string[]): string =>
    [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${body.length}`,
      ...more,
      '',
      body,
    ].join('\r\n');
  const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';

  // Half a body, and the client is gone.
  const leaving = connectTo(url);
  leaving.on('error', () => {});
  leaving.write(posting(hello).slice(0, -5));
  await eventually(() => leaving.bytesWritten > 0 || undefined, 'half a request to leave');
  leaving.destroy();

  const kept = await talk(url, [`${health}\r\n`, `${health}\r\n`, `${health}Connection: close\r\n\r\n`]);
  expect(everyStatus(kept.text)).toEqual(['200', '200', '200']);
  const pipelined = await talk(url, [
    `${posting(hello)}${health}\r\n${posting(hello)}${health}Connection: close\r\n\r\n`,
  ]);
  expect(everyStatus(pipelined.text)).toEqual(['200', '200', '200', '200']);
  expect(pipelined.text.match(/"id":"init"|ok\n/g)).toEqual(['"id":"init"', 'ok\n', '"id":"init"', 'ok\n']);
  const asked = await talk(url, [posting(hello, 'Expect: 100-continue', 'Connection: close')]);
  expect(everyStatus(asked.text)).toEqual(['100', '200']);
}

/** An answer may begin right behind the body of the one before. */
function everyStatus(text: string): (string | undefined)[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => match[1]);
}
