import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/within.ts';
import { ToolFault } from '../../serving/index.ts';
import { createFetchTools } from './fetch-tools.ts';
import { createWeb, publicAddress, type Web, type WebOptions } from './web.fixture.ts';

let web: Web | undefined;

afterEach(async () => {
  await web?.close();
});

const page = '<!doctype html><title>Hello</title><h1>A</h1><p>b <a href="/c">d</a></p>';

describe('what a tool makes of a page', () => {
  const head = 'http://public.test/\nStatus 200, text/html, 72 bytes';
  test.each([
    ['fetch_url', `${head}\n\n${page}`],
    ['fetch_html', `${head}\n\n${page}`],
    ['fetch_markdown', `${head}\nTitle: Hello\n\n# A\n\nb [d](http://public.test/c)`],
    ['fetch_text', `${head}\nTitle: Hello\n\nA\n\nb d`],
  ])('%s', async (tool, text) => {
    expect(await textOf(tool, serving('text/html; charset=utf-8', page))).toBe(text);
  });

  test.each(['application/json', 'text/plain', 'application/ld+json', 'image/svg+xml', 'application/x-yaml'])(
    '%s stays as it is, but for who wants HTML',
    async (type) => {
      for (const tool of ['fetch_url', 'fetch_markdown', 'fetch_text']) {
        expect(await textOf(tool, serving(type, '{"a": "<b>"}'))).toMatch(/bytes\n\n\{"a": "<b>"\}$/);
        await web?.close();
      }
      await expect(textOf('fetch_html', serving(type, '{}'))).rejects.toThrow(/It is not HTML; use fetch_url\.$/);
    },
  );

  test.each(['image/png', 'application/pdf', 'application/octet-stream', 'video/mp4', 'font/woff2'])(
    '%s is described',
    async (type) => {
      expect(await textOf('fetch_markdown', serving(type, 'x'))).toBe(
        `http://public.test/\nStatus 200, ${type}, 1 bytes\nIt is not text, so it is not shown.`,
      );
    },
  );

  test.each([
    ['a page', page, /no content type, 72 bytes\nTitle: Hello\n\n# A/],
    ['text', 'plain <b>', /no content type, 9 bytes\n\nplain <b>$/],
    ['something else', 'PK\u0003\u0004\u0000\u0000', /It is not text/],
  ])('without a type, %s is known by its start', async (_, body, text) => {
    expect(await textOf('fetch_markdown', serving(undefined, body))).toMatch(text);
  });

  test('is unpacked', async () => {
    const options = serving('text/plain', gzipSync('packed'), { 'content-encoding': 'GZip' });
    expect(await textOf('fetch_url', options)).toMatch(/text\/plain, 6 bytes\n\npacked$/);
  });

  test('stands under the address where it was found', async () => {
    const options: WebOptions = {
      answer: ({ url }, response) => {
        if (url === '/dir/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<a href=x>y</a>');
        else response.writeHead(301, { location: '/dir/page' }).end();
      },
    };
    expect(await textOf('fetch_markdown', options)).toBe(
      'http://public.test/dir/page (after 1 redirect)\nStatus 200, text/html, 15 bytes\n\n[y](http://public.test/dir/x)',
    );
  });

  test('holds no escape sequences and no control characters', async () => {
    const body =
      '<title>\u001b[2Jt</title>a\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u0000\u0008\u007f\u009bc&#27;[1md\r\ne&#8;';
    const text = await textOf('fetch_text', serving('text/html', body));
    expect(text).toMatch(/Title: t\n\nared bcd e$/);
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});

describe('a text in another encoding', () => {
  const greek = Buffer.from([0xc3, 0xe5, 0xe9, 0xdc]);
  const kanji = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
  const wide = Buffer.from('\ufeffhé', 'utf16le');
  test.each([
    ['by the header', 'text/plain; charset="ISO-8859-7"', greek, 'Γειά'],
    ['by the page', 'text/html', Buffer.concat([Buffer.from('<meta charset=shift_jis>'), kanji]), '日本'],
    [
      'by the page, the old way',
      'text/html',
      Buffer.concat([Buffer.from('<meta content="text/html; charset=iso-8859-7">'), greek]),
      'Γειά',
    ],
    [
      'by a declaration',
      'text/xml',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="iso-8859-7"?>'), greek]),
      'Γειά',
    ],
    ['by a mark at its start', 'text/plain; charset=iso-8859-1', wide, 'hé'],
    ['of no name that is known', 'text/plain; charset=klingon', Buffer.from('hé'), 'hé'],
    ['that is not what it says', 'text/plain; charset=utf-8', Buffer.from([0x68, 0xe9, 0x21]), 'h\ufffd!'],
    ['that says UTF-16 in bytes', 'text/html', Buffer.from('<meta charset=utf-16>hé'), 'hé'],
  ])('%s', async (_, type, body, text) => {
    expect(await textOf('fetch_text', serving(type, body))).toMatch(new RegExp(`${text}$`));
  });
});

describe('a long text', () => {
  const long = serving('text/plain', 'abcdefghij'.repeat(5000));

  test('comes in parts that say how to go on', async () => {
    expect(await textOf('fetch_url', long)).toMatch(
      /\n\n[a-j]{20000}\n\n\(Characters 0 to 20000 of 50000\. 30000 are left: call again with start 20000\.\)$/,
    );
  });

  test('is read on', async () => {
    web = await createWeb(long);
    const url = 'http://public.test/';
    expect(await web.call('fetch_url', { url, start: 49_993, max_chars: 5 })).toMatch(
      /\n\ndefgh\n\n.*2 are left: call again with start 49998/,
    );
    expect(await web.call('fetch_url', { url, start: 49_998 })).toMatch(
      /\n\nij\n\n\(Characters 49998 to 50000 of 50000\. This is the end\.\)$/,
    );
    await expect(web.call('fetch_url', { url, start: 50_000 })).rejects.toThrow(
      new ToolFault('start 50000 is past the end: the text has 50000 characters.'),
    );
  });

  test('says where its conversion ended', async () => {
    const options = { ...serving('text/html', '<a href=x>y</a>'.repeat(60)), limits: { maxBytes: 1024 } };
    expect(await textOf('fetch_markdown', options)).toMatch(/\n\n\(The page is longer than the converted part\.\)$/);
  });
});

describe('an error', () => {
  test.each([400, 401, 403, 404, 410, 429, 500, 503])('%i is a fault with the start of its body', async (status) => {
    const options: WebOptions = {
      answer: (_, response) =>
        void response.writeHead(status, { 'content-type': 'text/html' }).end(`<h1>No</h1>${'x'.repeat(5000)}`),
    };
    const outcome = await textOf('fetch_html', options).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(ToolFault);
    expect(String(outcome)).toMatch(
      new RegExp(`Status ${status}, .*\nThe server answered with an error\\.\n\nNo\n\nx{996}$`),
    );
  });

  test('without a body', async () => {
    const options: WebOptions = { answer: (_, response) => void response.writeHead(404).end() };
    await expect(textOf('fetch_url', options)).rejects.toThrow(
      /no content type, 0 bytes\nThe server answered with an error\.$/,
    );
  });
});

test('an inner host is read where the operator lets it through, and only there', async () => {
  web = await createWeb({ ...serving('text/plain', 'inner'), allowed: ['127.0.0.1:8080'] });
  expect(await web.call('fetch_url', { url: 'http://127.0.0.1:8080/' })).toMatch(/inner$/);
  await expect(web.call('fetch_url', { url: 'http://127.0.0.1:8081/' })).rejects.toThrow(
    'http://127.0.0.1:8081/ is not fetched: 127.0.0.1 is not a public address. The operator can allow it with --allow.',
  );
  expect(web.dialled).toEqual(['127.0.0.1:8080']);
});

test('names are looked up one at a time, and for nobody who has gone', async () => {
  const asked: string[] = [];
  let answer = (): void => {};
  const lookup: WebOptions['lookup'] = (name, _, done) => {
    asked.push(name);
    answer = () => done(null, [{ address: publicAddress, family: 4 }]);
  };
  web = await createWeb({ ...serving('text/plain', 'here'), lookup });
  const leaving = new AbortController();
  const first = web.call('fetch_url', { url: 'http://first.test/' });
  const second = web.call('fetch_url', { url: 'http://second.test/' }, leaving.signal);
  const third = web.call('fetch_url', { url: 'http://third.test/' });
  await eventually(() => asked.length > 0 || undefined, 'the first lookup');
  leaving.abort();
  await expect(second).rejects.toThrow('was cancelled');
  expect(asked).toEqual(['first.test']);
  answer();
  expect(await first).toMatch(/here$/);
  await eventually(() => asked.length > 1 || undefined, 'the next lookup');
  answer();
  expect(await third).toMatch(/here$/);
  expect(asked).toEqual(['first.test', 'third.test']);
});

test('large pages are read two at a time, and small ones meanwhile', async () => {
  let reads = 0;
  let wake = (): void => {};
  const awake = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const large = `<p>${'x'.repeat(300_000)}</p>`;
  web = await createWeb({
    answer: (request, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(request.url === '/large' ? large : '<p>small</p>'),
    // The first two large pages stay where they are until they are woken; small ones come after them.
    breathe: async () => {
      if (++reads <= 2) await awake;
    },
  });
  const { call, requests } = web;
  const ended: number[] = [];
  const pages = [0, 1, 2].map((index) =>
    call('fetch_text', { url: 'http://public.test/large' }).then(() => ended.push(index)),
  );
  await eventually(() => (requests.length === 3 && reads === 2) || undefined, 'two to be read');
  expect(await call('fetch_text', { url: 'http://public.test/small' })).toMatch(/small$/);
  expect(ended).toEqual([]);
  // One turn for each of the large pages that are read, two for the small one.
  expect(reads).toBe(4);
  wake();
  await Promise.all(pages);
  expect(ended).toHaveLength(3);
});

test('all tools only read', () => {
  // Nothing of them is used before one is called.
  const unused = undefined as never;
  const tools = createFetchTools(unused, unused);
  expect(tools.map(({ name }) => name)).toEqual(['fetch_url', 'fetch_html', 'fetch_markdown', 'fetch_text']);
  for (const { annotations } of tools) {
    expect(annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    });
  }
});

function serving(
  type: string | undefined,
  body: Buffer | string,
  more: Readonly<Record<string, string>> = {},
): WebOptions {
  const headers = {
    ...(type === undefined ? {} : { 'content-type': type }),
    'content-length': Buffer.byteLength(body),
    ...more,
  };
  return { answer: (_, response) => void response.writeHead(200, headers).end(body) };
}

async function textOf(tool: string, options: WebOptions): Promise<string> {
  web = await createWeb(options);
  return web.call(tool, { url: 'http://public.test/' });
}

test('only so many pages are held at once; the rest wait, and whoever leaves loses the place', async () => {
  const held: (() => void)[] = [];
  const at = await createWeb({ answer: (_, response) => void held.push(() => response.end('x')) });
  web = at;
  const leaving = new AbortController();
  const url = 'http://public.test/';
  const first = Array.from({ length: 32 }, () => at.call('fetch_url', { url }));
  await eventually(() => held.length === 32 || undefined, 'all places to be taken');
  const gone = at.call('fetch_url', { url }, leaving.signal).catch((error: unknown) => String(error));
  const waiting = at.call('fetch_url', { url });
  leaving.abort();
  expect(await gone).toContain('was cancelled');
  expect(at.requests).toHaveLength(32);
  for (const answer of held.splice(0)) answer();
  await Promise.all(first);
  await eventually(() => held.length === 1 || undefined, 'the one that waited');
  held[0]?.();
  expect(await waiting).toContain('Status 200');
});
