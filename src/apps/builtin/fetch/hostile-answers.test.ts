import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { eventually, within } from '../../../../test/support/within.ts';
import { createManualClock } from '../../../base/manual-clock.fixture.ts';
import { ToolFault } from '../../serving/index.ts';
import { createWeb, publicAddress, type Web, type WebOptions } from './web.fixture.ts';

let web: Web | undefined;

afterEach(async () => {
  // Whatever came of it, nothing is left open by the tools.
  await eventually(() => web?.open() === 0, 'sockets to be closed');
  await web?.close();
});

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';

describe('bodies', () => {
  const bomb = Buffer.alloc(64 * 1024 * 1024, 'a');
  test.each([
    ['gzip', gzipSync(bomb)],
    ['x-gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb)],
    ['deflate', deflateSync(bomb)],
  ])(verifies('builtin:fetch-bounds', 'a bomb in %s ends at the bound'), async (encoding, body) => {
    expect(await faultOf(answering({ 'content-encoding': encoding }, body))).toMatch(/larger than 1048576 bytes/);
  });

  test('a bomb in a bomb is not unpacked at all', async () => {
    const body = gzipSync(gzipSync(bomb));
    expect(await faultOf(answering({ 'content-encoding': 'gzip, gzip' }, body))).toMatch(
      /content encoding is not one of/,
    );
  });

  test('one that never ends does', async () => {
    const endless = (socket: Socket): void => {
      socket.write(`${head}\r\n`);
      const more = (): void => {
        while (socket.writable && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', more).on('error', () => {});
      more();
    };
    expect(await faultOf({ raw: endless })).toMatch(/larger than 1048576 bytes/);
  });

  test('one of chunks that never end does', async () => {
    const endless = (socket: Socket): void => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const more = (): void => {
        while (socket.writable && socket.write('400\r\n'.concat('x'.repeat(1024), '\r\n')));
      };
      socket.on('drain', more).on('error', () => {});
      more();
    };
    expect(await faultOf({ raw: endless })).toMatch(/larger than 1048576 bytes/);
  });

  test.each([
    ['that is not what it says', 'gzip', Buffer.from('not packed')],
    ['that breaks off', 'gzip', gzipSync('hello '.repeat(1000)).subarray(0, 30)],
    ['that is not Brotli', 'br', Buffer.from([255, 255, 255, 255, 255, 255])],
    ['that is not deflated', 'deflate', Buffer.from('not packed')],
  ])('one %s', async (_, encoding, body) => {
    expect(await faultOf(answering({ 'content-encoding': encoding }, body))).toMatch(
      /does not match its content encoding/,
    );
  });

  test('one that is shorter than announced', async () => {
    expect(await faultOf(sending(`${head}Content-Length: 100\r\n\r\nshort`))).toMatch(
      /lost before the response was complete/,
    );
  });

  test('one that is longer than announced ends where it was announced to', async () => {
    const text = await textOf(sending(`${head}Content-Length: 5\r\n\r\nshortHTTP/1.1 200 OK\r\n\r\nsmuggled`));
    expect(text).toMatch(/5 bytes\n\nshort$/);
  });

  test('two lengths that differ', async () => {
    expect(await faultOf(sending(`${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nshort!`))).toMatch(
      /with HTTP \(HPE_/,
    );
  });

  test('a length and chunks at once', async () => {
    const both = `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\n\r\n`;
    expect(await faultOf(sending(both))).toMatch(/with HTTP \(HPE_/);
  });

  test('binary files are not read', async () => {
    const text = await textOf(
      sending('HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 999999999\r\n\r\nx'),
    );
    expect(text).toBe(
      'http://public.test/\nStatus 200, image/png, 999999999 bytes\nIt is not text, so it is not shown.',
    );
  });
});

test('a body that is not text and never ends is left at once', async () => {
  const raw = (socket: Socket): void => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n');
  };
  expect(await textOf({ raw })).toMatch(/video\/mp4, size unknown\nIt is not text/);
});

describe('headers', () => {
  test('that are huge', async () => {
    expect(await faultOf(sending(`${head}X: ${'x'.repeat(64 * 1024)}\r\n\r\n`))).toMatch(/headers are too large/);
  });

  test('that never end', async () => {
    const endless = (socket: Socket): void => {
      socket.write(head);
      const more = (): void => {
        while (socket.writable && socket.write('X: y\r\n'.repeat(100)));
      };
      socket.on('drain', more).on('error', () => {});
      more();
    };
    expect(await faultOf({ raw: endless })).toMatch(/headers are too large/);
  });

  test.each(['SSH-2.0-OpenSSH_9.6\r\n', '+OK redis\r\n', '\0\0\0\0', 'HTTP/9.9 what\r\n\r\n'])(
    'that are none: %j',
    async (bytes) => {
      expect(await faultOf(sending(bytes))).toMatch(/did not answer with HTTP|lost before/);
    },
  );

  test('that end at once', async () => {
    expect(await faultOf({ raw: (socket) => socket.destroy() })).toMatch(/lost before the response was complete/);
  });

  test('that want another protocol', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    expect(await faultOf(sending(upgrade))).toMatch(/another protocol/);
  });

  test('with a cookie set none for the next hop', async () => {
    web = await createWeb({
      answer: ({ url }, response) => {
        if (url === '/') response.writeHead(302, { location: '/next', 'set-cookie': 'a=b' }).end();
        else response.writeHead(200, { 'content-type': 'text/plain' }).end('there');
      },
    });
    expect(await web.call('fetch_url', { url: 'http://public.test/' })).toMatch(/after 1 redirect\).*there$/s);
    expect(web.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  test('that refresh, and pages that do, are not followed', async () => {
    const page = '<meta http-equiv="refresh" content="0;url=http://127.0.0.1/"><p>here</p>';
    const text = await textOf(
      answering({ refresh: '0;url=http://127.0.0.1/', 'content-type': 'text/html' }, page),
      'fetch_text',
    );
    expect(text).toMatch(/\n\nhere$/);
    expect(web?.dialled).toEqual([`${publicAddress}:80`]);
  });
});

describe('redirects', () => {
  test('that go round end', async () => {
    const options: WebOptions = {
      limits: { maxRedirects: 3 },
      answer: ({ url }, response) => void response.writeHead(302, { location: url === '/' ? '/b' : '/' }).end(),
    };
    expect(await faultOf(options)).toMatch(/redirects more than 3 times/);
    expect(web?.requests.map(({ url }) => url)).toEqual(['/', '/b', '/', '/b']);
  });

  test('of which none are wanted', async () => {
    const options: WebOptions = {
      limits: { maxRedirects: 0 },
      answer: (_, response) => void response.writeHead(302, { location: '/b' }).end(),
    };
    expect(await faultOf(options)).toMatch(/redirects more than 0 times/);
  });

  test('over public hosts to an inner one stop there', async () => {
    const next: Record<string, string> = { 'public.test': '//other.test/', 'other.test': 'http://localhost/' };
    const options: WebOptions = {
      names: { localhost: [['127.0.0.1']] },
      answer: ({ headers }, response) => void response.writeHead(307, { location: next[headers.host ?? ''] }).end(),
    };
    expect(await faultOf(options)).toMatch(
      /^http:\/\/localhost\/ is not fetched: localhost has an address that is not public/,
    );
    expect(web?.dialled).toEqual([`${publicAddress}:80`, '93.184.216.35:80']);
  });

  test('by a name that changes its mind are looked up anew, and dialled as they were checked', async () => {
    const options: WebOptions = {
      names: { 'rebind.test': [[publicAddress], ['127.0.0.1']] },
      answer: (_, response) => void response.writeHead(302, { location: '/again' }).end(),
    };
    expect(await faultOf(options, 'http://rebind.test/')).toMatch(/rebind\.test has an address that is not public/);
    expect([web?.asked, web?.dialled]).toEqual([['rebind.test', 'rebind.test'], [`${publicAddress}:80`]]);
  });

  test('lead from http to https, and not back', async () => {
    const options: WebOptions = {
      answer: ({ headers }, response) => {
        if (headers.host === 'other.test') response.writeHead(200, { 'content-type': 'text/plain' }).end('there');
        else
          response
            .writeHead(301, { location: headers.host === 'up.test' ? 'https://other.test/' : '//other.test/' })
            .end();
      },
      names: { 'up.test': [[publicAddress]] },
    };
    expect(await textOf(options, 'fetch_url', 'http://up.test/')).toMatch(/^https:\/\/other\.test\/ .*there$/s);
    await web?.close();
    const down: WebOptions = {
      answer: (_, response) => void response.writeHead(301, { location: 'http://other.test/' }).end(),
    };
    expect(await faultOf(down, 'https://public.test/')).toBe(
      'https://public.test/ redirects from https to http://other.test/, which is not followed. Fetch that URL directly if you need it.',
    );
    expect(web?.dialled).toEqual([`${publicAddress}:443`]);
  });

  test('with a body that never ends are left at once', async () => {
    const raw = (socket: Socket): void => {
      socket
        .on('error', () => {})
        .once('data', (request: Buffer) => {
          if (request.includes('GET /next')) socket.end(`${head}Content-Length: 5\r\n\r\nthere`);
          else socket.write('HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 99\r\n\r\n');
        });
    };
    expect(await textOf({ raw })).toMatch(/there$/);
  });

  test('without a target are shown as they are', async () => {
    const text = await textOf({
      answer: (_, response) => void response.writeHead(302, { 'content-type': 'text/plain' }).end('nowhere'),
    });
    expect(text).toMatch(/Status 302, text\/plain, 7 bytes\n\nnowhere$/);
  });
});

describe('time', () => {
  const slow: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['says nothing', () => {}],
    ['begins a line of its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nX: ')],
    ['ends its headers', (socket) => socket.write(`${head}\r\n`)],
    ['sends some of its body', (socket) => socket.write(`${head}Content-Length: 9\r\n\r\nsome`)],
    ['greets without an end', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ];

  test.each(slow)('is up for a server that %s and waits', async (_, begin) => {
    const clock = createManualClock();
    const { arrived, raw } = arriving(begin);
    web = await createWeb({ raw, clock, limits: { timeoutMs: 7000 } });
    const outcome = web.call('fetch_url', { url: 'http://public.test/' }).catch((error: unknown) => error);
    await within(arrived, 'a request');
    clock.advance(6999);
    expect(web.open()).toBe(1);
    clock.advance(1);
    expect(String(await within(outcome, 'the fault'))).toMatch(/it took longer than 7 s \(--timeout\)/);
    expect(clock.waiting).toBe(0);
  });

  test.each(slow)('is over for who cancels while a server %s and waits', async (_, begin) => {
    const { arrived, raw } = arriving(begin);
    web = await createWeb({ raw });
    const leaving = new AbortController();
    const outcome = web
      .call('fetch_url', { url: 'http://public.test/' }, leaving.signal)
      .catch((error: unknown) => error);
    await within(arrived, 'a request');
    leaving.abort();
    expect(await within(outcome, 'the fault')).toEqual(
      new ToolFault('The fetch of http://public.test/ was cancelled.'),
    );
  });

  test('is over before anything is dialled for who has gone already', async () => {
    web = await createWeb({});
    await expect(web.call('fetch_url', { url: 'http://public.test/' }, AbortSignal.abort())).rejects.toThrow(
      /was cancelled/,
    );
    expect(web.requests).toEqual([]);
  });
});

function answering(headers: Readonly<Record<string, string>>, body: Buffer | string): WebOptions {
  return {
    answer: (_, response) => void response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body),
  };
}

function sending(bytes: string): WebOptions {
  return { raw: (socket) => void socket.on('error', () => {}).end(bytes) };
}

/** Tells when the request is there. */
function arriving(begin: (socket: Socket) => void): { arrived: Promise<void>; raw: (socket: Socket) => void } {
  let tell: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const raw = (socket: Socket): void => {
    socket
      .on('error', () => {})
      .once('data', () => {
        begin(socket);
        tell();
      });
  };
  return { arrived, raw };
}

async function textOf(options: WebOptions, tool = 'fetch_url', url = 'http://public.test/'): Promise<string> {
  web = await createWeb(options);
  return within(web.call(tool, { url }), 'an answer');
}

async function faultOf(options: WebOptions, url = 'http://public.test/'): Promise<string> {
  const outcome = await textOf(options, 'fetch_url', url).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ToolFault);
  return outcome instanceof ToolFault ? outcome.message : '';
}
