import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { createResourceNames } from './resource-names.ts';

test(verifies('names:resources', 'the first server keeps a URI as it is, another has it in its long form'), () => {
  const names = namesOf('notes', 'wiki');
  expect(names.nameOf('notes', 'memo://1')).toBe('memo://1');
  expect(names.nameOf('wiki', 'memo://1')).toBe('wiki+memo://1');
  expect(names.nameOf('wiki', 'memo://{id}')).toBe('memo://{id}');
  expect(names.nameOf('notes', 'memo://{id}')).toBe('notes+memo://{id}');
  expect(names.nameOf('notes', 'memo://1')).toBe('memo://1');
});

test(verifies('names:resources', 'a URI that looks like one of another server is never seen as it is'), () => {
  const names = namesOf('notes', 'wiki');
  expect(names.nameOf('wiki', 'notes+memo://1')).toBe('wiki+notes+memo://1');
  expect(names.nameOf('wiki', 'Notes+memo://1')).toBe('wiki+Notes+memo://1');
  expect(names.nameOf('wiki', 'wiki+memo://1')).toBe('wiki+wiki+memo://1');
  expect(names.nameOf('wiki', 'git+https://x/')).toBe('git+https://x/');
  names.adopt(['git']);
  expect(names.nameOf('wiki', 'git+https://x/')).toBe('wiki+git+https://x/');
});

test('names of servers become schemes, and no two the same', () => {
  const names = namesOf('my_server', 'my-server', 'My Server', '7zip', '.hidden', 'ünï', 'a.b-c');
  const long = (server: string) => names.nameOf(server, 'notes+x'.replace('notes', 'a.b-c'));
  expect(long('my_server')).toBe('my-server+a.b-c+x');
  expect(long('my-server')).toMatch(/^my-server-[0-9a-f]{6}\+a\.b-c\+x$/);
  expect(long('My Server')).toMatch(/^my-server-[0-9a-f]{6}\+a\.b-c\+x$/);
  expect(long('My Server')).not.toBe(long('my-server'));
  expect(long('7zip')).toBe('s-7zip+a.b-c+x');
  expect(long('.hidden')).toBe('s-.hidden+a.b-c+x');
  expect(long('ünï')).toBe('s--n-+a.b-c+x');
});

test('a long form leads to its server whatever the server is called, and nothing else does', () => {
  const text = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' });
  fc.assert(
    fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 6 }), fc.array(text), (servers, uris) => {
      const names = namesOf(...servers);
      const seen = new Map<string, string>();
      for (const server of servers) {
        for (const own of uris) {
          const name = names.nameOf(server, own);
          const subject = `${server}\0${own}`;
          expect(seen.get(name) ?? subject).toBe(subject);
          seen.set(name, subject);
          if (name !== own) {
            expect(name).toMatch(/^[a-z][a-z0-9.-]*\+/);
            expect(names.readLong(name)).toEqual({ server, own });
          } else expect(names.readLong(name)).toBeUndefined();
        }
      }
    }),
  );
});

function namesOf(...servers: string[]) {
  const names = createResourceNames();
  names.adopt(servers);
  return names;
}
