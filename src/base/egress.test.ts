import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createEgressGuard, EgressRefusal, type ResolveAll, readAllowedHost } from './egress.ts';

const wide: LookupAddress = { address: '93.184.216.34', family: 4 };
const wide6: LookupAddress = { address: '2606:2800:220:1::1', family: 6 };
const home: LookupAddress = { address: '127.0.0.1', family: 4 };

describe('a name', () => {
  test('is resolved once, and what was checked is what is handed on', async () => {
    const { guard, asked } = guardOver([[wide6, wide], [home]]);
    expect(await resolve(guard, 'http://name.test', { all: true })).toEqual([wide6, wide]);
    expect(asked).toEqual(['name.test']);
  });

  test('gives one address to who asks for one', async () => {
    const { guard } = guardOver([[wide6, wide]]);
    expect(await resolve(guard, 'http://name.test', {})).toEqual([wide6]);
  });

  test.each([
    ['an inner address', [home]],
    ['an inner one behind a public one', [wide, home]],
    ['a public one behind an inner one', [{ address: 'fd00::1', family: 6 }, wide]],
    ['an address that cannot be read', [{ address: 'name.test', family: 4 }]],
  ])('with %s is refused', async (_, answer) => {
    const { guard } = guardOver([answer]);
    for (const all of [true, false]) {
      await expect(resolve(guard, 'https://name.test', { all })).rejects.toBeInstanceOf(EgressRefusal);
    }
  });

  test('without an address, or of which the resolver knows nothing, fails as such', async () => {
    await expect(resolve(guardOver([[]]).guard, 'http://name.test', {})).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const failed = Object.assign(new Error('no'), { code: 'EAI_AGAIN' });
    // node:dns leaves out the addresses where it has an error; its type does not say so.
    const guard = createEgressGuard(
      { lookup: (_, __, done) => (done as (error: Error) => void)(failed) },
      { allowed: [] },
    );
    await expect(resolve(guard, 'http://name.test', {})).rejects.toBe(failed);
  });
});

describe('a URL', () => {
  const { guard, asked } = guardOver([]);

  test.each([
    ['file:///etc/passwd', /scheme is file,/],
    ['ftp://name.test/', /scheme is ftp,/],
    ['data:text/html,x', /scheme is data,/],
    ['javascript:alert(1)', /scheme is javascript,/],
    ['http://user@name.test/', /user name/],
    ['http://:secret@name.test/', /user name/],
    ['http://127.0.0.1/', /127\.0\.0\.1 is not a public address/],
    ['http://0x7f.1/', /127\.0\.0\.1 is not a public address/],
    ['http://127.0.0.1./', /127\.0\.0\.1 is not a public address/],
    ['http://[::1]/', /::1 is not a public address/],
    ['https://[::ffff:7f00:1]/', /is not a public address/],
  ])('%s is refused before anybody is asked', (url, reason) => {
    const refusal = guard.admit(new URL(url));
    expect(refusal).toBeInstanceOf(EgressRefusal);
    expect(String(refusal)).toMatch(reason);
    expect(asked).toEqual([]);
  });

  test('with a public address is admitted', () => {
    expect(guard.admit(new URL('http://93.184.216.34/'))).toBeTypeOf('function');
    expect(guard.admit(new URL('http://[2606:2800:220:1::1]/'))).toBeTypeOf('function');
  });
});

describe('what the operator lets through', () => {
  test.each([
    [
      '127.0.0.1:8080',
      ['http://127.0.0.1:8080/', 'https://127.1:8080/'],
      ['http://127.0.0.1/', 'http://127.0.0.2:8080/'],
    ],
    ['127.0.0.1', ['http://127.0.0.1/', 'https://127.0.0.1:9/'], ['http://127.0.0.2/']],
    ['127.0.0.1:80', ['http://127.0.0.1/', 'https://127.0.0.1:80/'], ['https://127.0.0.1/', 'http://127.0.0.1:8080/']],
    ['127.0.0.1:443', ['https://127.0.0.1/'], ['http://127.0.0.1/']],
    ['[::1]:8080', ['http://[::1]:8080/', 'http://[0:0::1]:8080/'], ['http://[::1]/', 'http://[::2]:8080/']],
  ])('%s', (entry, through, refused) => {
    const { guard } = guardOver([], [entry]);
    for (const url of through) expect(guard.admit(new URL(url)), url).toBeTypeOf('function');
    for (const url of refused) expect(guard.admit(new URL(url)), url).toBeInstanceOf(EgressRefusal);
  });

  test('is a host by its name, in any writing, and none below it', async () => {
    const { guard } = guardOver([[home], [home], [home], [home]], ['Wiki.Inner:8080']);
    expect(await resolve(guard, 'http://wiki.inner:8080/', { all: true })).toEqual([home]);
    expect(await resolve(guard, 'http://WIKI.inner.:8080/', {})).toEqual([home]);
    await expect(resolve(guard, 'http://wiki.inner/', {})).rejects.toBeInstanceOf(EgressRefusal);
    await expect(resolve(guard, 'http://a.wiki.inner:8080/', {})).rejects.toBeInstanceOf(EgressRefusal);
  });

  test('leaves scheme and credentials as they are', () => {
    const { guard } = guardOver([], ['127.0.0.1']);
    expect(guard.admit(new URL('ftp://127.0.0.1/'))).toBeInstanceOf(EgressRefusal);
    expect(guard.admit(new URL('http://a:b@127.0.0.1/'))).toBeInstanceOf(EgressRefusal);
  });

  test.each(['', ':80', 'http://a', 'a/b', 'a?b', 'a#b', 'u@a', 'a b', 'a:b', 'a:99999', '[::1', '::1', 'a\\b', 'a\n'])(
    '%j is no host',
    (text) => {
      expect(readAllowedHost(text)).toBeUndefined();
    },
  );
});

test('the address that is dialled is the one that was checked', async () => {
  const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  // A server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const { guard, asked } = guardOver([[home]], [`inner.test:${port}`]);
  const lookup = guard.admit(new URL(`http://inner.test:${port}`));
  if (lookup instanceof EgressRefusal) throw lookup;
  const socket = connect({ host: 'inner.test', port, lookup });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  expect([socket.remoteAddress, asked]).toEqual(['127.0.0.1', ['inner.test']]);
  socket.destroy();
  server.close();
});

/** A resolver that gives these answers in this order; the last one again and again. */
function guardOver(answers: readonly LookupAddress[][], allowed: readonly string[] = []) {
  const asked: string[] = [];
  const lookup: ResolveAll = (name, _, done) => {
    asked.push(name);
    done(null, answers[Math.min(asked.length, answers.length) - 1] ?? []);
  };
  const hosts = allowed.map(readAllowedHost).filter((host) => host !== undefined);
  expect(hosts).toHaveLength(allowed.length);
  return { asked, guard: createEgressGuard({ lookup }, { allowed: hosts }) };
}

function resolve(
  guard: ReturnType<typeof createEgressGuard>,
  text: string,
  options: { all?: boolean },
): Promise<LookupAddress[]> {
  const url = new URL(text);
  const lookup = guard.admit(url);
  if (lookup instanceof EgressRefusal) return Promise.reject(lookup);
  return new Promise((done, reject) => {
    lookup(url.hostname, options, (error, address, family) => {
      if (error) reject(error);
      else done(typeof address === 'string' ? [{ address, family: family ?? 0 }] : address);
    });
  });
}
