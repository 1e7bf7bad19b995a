import { expect, test } from 'vitest';
import { echoServer, gatewayForTest } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient, modernMeta, modernVersion, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';

const smuggled = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"counter","arguments":{}}}';
const mark = 'HERE';

/** The text of a message in which each mark is a whole message on a line of its own. */
function onLines(body: object, lineBreak: string): string {
  return JSON.stringify(body).replaceAll(`"${mark}"`, `${lineBreak}${smuggled}${lineBreak}`);
}

const members: readonly [where: string, params: object][] = [
  ['arguments', { arguments: { message: 'x', list: [mark] } }],
  ['inputResponses', { arguments: { message: 'x' }, inputResponses: { a: mark } }],
  ['inputResponses with a state', { arguments: {}, inputResponses: { a: mark }, requestState: 'state' }],
  ['_meta', { arguments: { message: 'x' }, _meta: modernMeta({ 'example.com/extra': mark }) }],
  [
    'client capabilities',
    { arguments: {}, _meta: modernMeta({ 'io.modelcontextprotocol/clientCapabilities': { x: mark } }) },
  ],
  ['an unknown member', { arguments: {}, more: mark }],
];

test.each(['echo-stdio.mjs', 'echo-modern.mjs'])(
  verifies('arguments:one-line', '%s: no part of a request is another message to a server on a pipe'),
  async (program) => {
    const gateway = await gatewayForTest({
      servers: { echo: program === 'echo-stdio.mjs' ? echoServer : stdioServer(program, ['--stdio']) },
      agents: { low: { tools: { echo: { include: ['echo'] } } }, ops: {} },
    });
    const [low, ops] = [await gateway.token('low'), await gateway.token('ops')];
    const headers = {
      authorization: `Bearer ${low}`,
      'mcp-protocol-version': modernVersion,
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    };
    for (const [where, params] of members) {
      for (const lineBreak of ['\n', '\r\n', '\r']) {
        const body = {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'echo', _meta: modernMeta(), ...params },
        };
        const answer = await ask(gateway.url, { headers, body: onLines(body, lineBreak) });
        expect([where, answer.message.id]).toEqual([where, 1]);
      }
    }
    const legacy = await legacyClient(gateway.url, low);
    const body = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'echo', arguments: { list: [mark] }, more: mark },
    };
    await legacy.post(onLines(body, '\n'));
    expect(textOf((await modernClient(gateway.url, ops).call('echo_counter')).message)).toBe('1');
  },
);
