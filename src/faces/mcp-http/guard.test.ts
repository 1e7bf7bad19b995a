import { expect, test } from 'vitest';
import { createGuard } from './guard.ts';

const serve = { allowedHosts: [], allowedOrigins: [] };

function passes(
  options: Parameters<typeof createGuard>[0],
  { host, origin }: { host?: string; origin?: string },
): boolean {
  try {
    createGuard(options).check({ host, origin });
    return true;
  } catch {
    return false;
  }
}

test('loopback names are always served, other addresses only when listened on', () => {
  for (const host of ['localhost', '127.0.0.1:80', '[::1]'])
    expect(passes({ host: '0.0.0.0', ...serve }, { host })).toBe(true);
  expect(passes({ host: '10.0.0.5', ...serve }, { host: '10.0.0.5:4680' })).toBe(true);
  expect(passes({ host: '127.0.0.1', ...serve }, { host: '10.0.0.5:4680' })).toBe(false);
  expect(passes({ host: 'fd00::5', ...serve }, { host: '[fd00::5]:4680' })).toBe(true);
});

test('listening on every address serves no name by itself', () => {
  for (const host of ['0.0.0.0', '::', '']) {
    expect(passes({ host, ...serve }, { host: '0.0.0.0:4680' }), host).toBe(false);
    expect(passes({ host, ...serve }, { host: '' }), host).toBe(false);
  }
});

test('names that the operator allows are compared without case and port', () => {
  const options = { host: '127.0.0.1', allowedHosts: ['Hub.Example'], allowedOrigins: [] };
  expect(passes(options, { host: 'hub.example:8443' })).toBe(true);
  expect(passes(options, { host: 'x.hub.example' })).toBe(false);
});

test('the message names the setting and not more than the head of the header', () => {
  const guard = createGuard({ host: '127.0.0.1', ...serve });
  expect(() => guard.check({ host: 'x'.repeat(5000), origin: undefined })).toThrow(
    /^This hub does not serve Host x{200}\.$/,
  );
});

test('a port is a number, and nothing follows it', () => {
  const options = { host: '127.0.0.1', ...serve };
  for (const host of ['localhost:', 'localhost:65535', '[::1]:1']) expect(passes(options, { host }), host).toBe(true);
  for (const host of [
    'localhost:a',
    'localhost:1:2',
    'localhost:1"',
    'localhost:x@evil.example',
    '[::1]x',
    ' localhost',
  ])
    expect(passes(options, { host }), host).toBe(false);
});

test('a name that was served says nothing about the next', () => {
  const guard = createGuard({ host: '127.0.0.1', ...serve });
  for (let turn = 0; turn < 2; turn++) {
    expect(() => guard.check({ host: 'localhost', origin: undefined })).not.toThrow();
    expect(() => guard.check({ host: 'evil.example', origin: undefined })).toThrow(/Host evil.example/);
    expect(() => guard.check({ host: undefined, origin: undefined })).toThrow(/Host \(none\)/);
    expect(() => guard.check({ host: 'localhost', origin: 'https://evil.example' })).toThrow(/Origin/);
  }
});

test.each([
  'null',
  'https://page.example/',
  'https://page.example/path',
  'HTTPS://page.example',
  'https://Page.example',
  'https://me@page.example',
  'https://page.example:443',
  'https://page.example, https://other.example',
  ' https://page.example',
  'page.example',
  'file://page.example',
  '',
])('what is no serialised origin is refused, even if it is on the list: %j', (origin) => {
  const options = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [origin] };
  expect(passes(options, { host: 'localhost', origin })).toBe(false);
});

test.each(['https://page.example', 'https://page.example:8443', 'http://[fd00::5]:1', 'app://obsidian.md'])(
  'a serialised origin on the list is served: %s',
  (origin) => {
    const options = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [origin] };
    expect(passes(options, { host: 'localhost', origin })).toBe(true);
    expect(passes({ ...options, allowedOrigins: [] }, { host: 'localhost', origin })).toBe(false);
  },
);

test.each([
  'http://localhost:4680/path',
  'HTTP://localhost',
  'http://me@localhost',
  'http://localhost:80',
  'ftp://localhost',
])('a loopback name alone makes no origin: %s', (origin) => {
  expect(passes({ host: '127.0.0.1', ...serve }, { host: 'localhost', origin })).toBe(false);
});

test('a star among the origins allows nobody', () => {
  const options = { host: '127.0.0.1', allowedHosts: ['*'], allowedOrigins: ['*'] };
  for (const origin of ['*', 'https://page.example'])
    expect(passes(options, { host: 'localhost', origin }), origin).toBe(false);
  expect(passes(options, { host: '*' })).toBe(false);
});
