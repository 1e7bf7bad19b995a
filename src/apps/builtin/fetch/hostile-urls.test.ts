import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { ToolFault } from '../../serving/index.ts';
import { createWeb, type Names, publicAddress, type Web } from './web.fixture.ts';

interface Hostile {
  readonly url: string;
  readonly why: string;
  /** What may be dialled after all; nothing, for most. */
  readonly dials?: readonly string[];
}

// The file beside this one has this shape.
const corpus = JSON.parse(readFileSync(`${import.meta.dirname}/fixtures/hostile-urls.json`, 'utf8')) as {
  readonly names: Names;
  readonly urls: readonly Hostile[];
};

let redirect: { readonly to: string; readonly status: number };
let web: Web;

beforeAll(async () => {
  web = await createWeb({
    names: corpus.names,
    limits: { maxRedirects: 3 },
    answer(request, response) {
      // Headers travel as bytes.
      const location = (): string => Buffer.from(redirect.to).toString('latin1');
      if (request.url === '/go') response.writeHead(redirect.status, { location: location() }).end();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('inner');
    },
  });
});

beforeEach(() => web.forget());

afterAll(() => web.close());

test('the corpus is as large as it claims', () => {
  expect(corpus.urls.length).toBeGreaterThanOrEqual(180);
});

describe('given as the URL', () => {
  test.each(corpus.urls)(verifies('builtin:fetch-guard', '$url ($why)'), async ({ url, dials = [] }) => {
    if (dials.length === 0) await expect(web.call('fetch_url', { url: url || ' ' })).rejects.toBeInstanceOf(ToolFault);
    else expect(await web.call('fetch_url', { url })).toMatch(/inner$/);
    expect(web.dialled).toEqual(dials);
    for (const { method, headers } of web.requests) {
      expect(method).toBe('GET');
      expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    }
  });
});

describe('given as the target of a redirect', () => {
  const statuses = [301, 302, 303, 307, 308];
  const inTurn = corpus.urls
    // A header cannot hold these.
    .filter(({ url }) => !/[\0\r\n]/.test(url))
    .map((each, index) => ({ ...each, status: statuses[index % statuses.length] ?? 302 }));
  const metadata = statuses.map((status) => ({ url: 'http://169.254.169.254/', why: 'metadata', dials: [], status }));

  test.each([...inTurn, ...metadata])('$status to $url ($why)', async ({ url: to, status, dials = [] }) => {
    redirect = { to, status };
    const outcome = await web.call('fetch_url', { url: 'http://public.test/go' }).catch((error: unknown) => error);
    const [first, ...rest] = web.dialled;
    expect(first).toBe(`${publicAddress}:80`);
    // Some are absolute only where nothing is around them; then the fixture answers again.
    const isRelative = hrefOf(to, undefined) !== hrefOf(to, 'http://public.test/go');
    if (isRelative) expect(rest.filter((each) => each !== `${publicAddress}:80`)).toEqual([]);
    else expect(rest).toEqual(dials);
    if (!isRelative && dials.length === 0) expect(outcome).toBeInstanceOf(ToolFault);
  });
});

function hrefOf(url: string, base: string | undefined): string | undefined {
  return URL.canParse(url, base) ? new URL(url, base).href : undefined;
}
