import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { gatewayForTest } from '../../support/gateway.ts';
import { legacyClient } from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';

const reader = { command: process.execPath, args: [fixturePath('url-reader.mjs')] };

async function open() {
  const gateway = await gatewayForTest({
    servers: { files: reader },
    approvals: { wait: '0s' },
    agents: {
      lead: {},
      denied: {
        policies: {
          tools: { 'files.resource:file:///srv/private/*': 'deny', 'files.resource:memo://board/*': 'deny' },
        },
      },
      asked: {
        policies: {
          tools: {
            'files.resource:file:///srv/private/*': 'require-approval',
            'files.resource:memo://board/*': 'require-approval',
          },
        },
      },
      excluded: { tools: { files: { exclude: ['resource:file:///srv/private/*', 'resource:memo://board/*'] } } },
      included: { tools: { files: { include: ['resource:file:///srv/pub/*', 'resource:file://pub*'] } } },
    },
  });
  return async (agent: string) => {
    const client = await legacyClient(gateway.url, await gateway.token(agent));
    return async (uri: string): Promise<Message> => (await client.request('resources/read', { uri })).message;
  };
}

/** Each leads a parser of URLs to a secret. */
const bypasses = [
  'file:///srv/private/s.txt',
  'file://x/srv/private/s.txt',
  'file://127.1/srv/private/s.txt',
  'file://pub/srv/private/s.txt',
  'file:///srv/pub/..;/private/s.txt',
  'file:///srv/pub/..;v=1/private/s.txt',
  'file:///srv/private;v=1/s.txt',
  'file:///srv/private/s.txt;v=1',
  'file:///srv/private./s.txt',
  'file:///srv/private/s.txt.',
  'file://x/srv/%70rivate/s.txt?q',
  'memo://board/minutes',
  'memo://board:1/minutes',
  'memo://x@board:7/minutes',
  'memo://x:y@board/minutes;v=1',
  'memo://board:65535/minutes.#part',
];

test(verifies(
  'view:resources-hidden',
  'hosts, ports, parameters and dots at the end lead nobody to what is denied',
), async () => {
  const clientOf = await open();
  const lead = await clientOf('lead');
  for (const uri of bypasses) expect([uri, JSON.stringify((await lead(uri)).result)]).toEqual([uri, secret]);
  for (const agent of ['denied', 'excluded', 'included']) {
    const read = await clientOf(agent);
    for (const uri of bypasses) expect([agent, uri, (await read(uri)).error?.code]).toEqual([agent, uri, -32002]);
    expect((await read('file:///srv/pub/a.txt')).result).toMatchObject({ contents: [{ text: 'open' }] });
  }
  const asked = await clientOf('asked');
  for (const uri of bypasses) {
    // Few questions of one agent are open at a time.
    const code = expect.stringMatching(/^(APPROVAL_REQUIRED|OVERLOADED)$/);
    expect([uri, (await asked(uri)).error]).toMatchObject([uri, { data: { code } }]);
  }
}, 180_000);

const secret = expect.stringContaining('SECRET');

test('a URI with a NUL or in many layers of percent-encoding reaches no server, and takes no time', async () => {
  const clientOf = await open();
  const layers = 50;
  const nested = Array.from({ length: layers }, (_, index) => `x%${'25'.repeat(layers - 1 - index)}00`).join('');
  const unsafe = [
    `memo://a/${nested}`.slice(0, 2000),
    `memo://a/${nested.slice(-700)}`,
    'memo://board/minutes%00.txt',
    'memo://board/%25252525',
  ];
  for (const agent of ['lead', 'denied']) {
    const read = await clientOf(agent);
    for (const uri of unsafe) expect([uri, (await read(uri)).error?.code]).toEqual([uri, -32002]);
  }
});
