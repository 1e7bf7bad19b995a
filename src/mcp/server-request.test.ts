import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withMembers } from './json/members.ts';
import { logLevels, reachesLevel } from './log-levels.ts';
import { legacyServerRequest, modernInputRequest, type ServerRequest } from './server-request.ts';

function serverRequestOf(method: string, paramsText: string): ServerRequest {
  return { method, params: JSON.parse(paramsText), paramsText };
}

const url = '{"mode":"url","url":"https://example.com","n":9007199254740993}';

test('a URL to visit has an id in the handshake era, and none in the newer one; the rest stays as it was written', () => {
  const plain = serverRequestOf('elicitation/create', url);
  expect(legacyServerRequest(plain, 'qm-1')).toBe(`${url.slice(0, -1)},"elicitationId":"qm-1"}`);
  expect(modernInputRequest(plain)).toBe(`{"method":"elicitation/create","params":${url}}`);
  const named = serverRequestOf('elicitation/create', `{"elicitationId":"e",${url.slice(1)}`);
  expect(legacyServerRequest(named, 'qm-1')).toBe(named.paramsText);
  expect(modernInputRequest(named)).toBe(`{"method":"elicitation/create","params":${url}}`);
});

test.each(['{"message":"Who?"}', '{"mode":"form"}', '{}'])('the form %s is the same in both eras', (text) => {
  const serverRequest = serverRequestOf('elicitation/create', text);
  expect(legacyServerRequest(serverRequest, 'qm-1')).toBe(text);
  expect(modernInputRequest(serverRequest)).toBe(`{"method":"elicitation/create","params":${text}}`);
});

test('members are replaced, added and taken out as JSON.parse and a spread would, whatever the object holds', () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(
      objects,
      fc.dictionary(fc.string(), fc.option(fc.jsonValue(), { nil: undefined })),
      (value, changes) => {
        const texts = Object.fromEntries(
          Object.entries(changes).map(([key, change]) => [
            key,
            change === undefined ? undefined : JSON.stringify(change),
          ]),
        );
        const expected = JSON.parse(JSON.stringify({ ...value, ...changes }));
        for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)]) {
          expect(JSON.parse(withMembers(text, texts))).toEqual(expected);
        }
      },
    ),
  );
});

test('a repeated member is replaced in all its places', () => {
  expect(withMembers('{"a":1,"b":2,"a":3}', { a: '4' })).toBe('{"b":2,"a":4}');
  expect(withMembers('{"\\u0061":1}', { a: undefined })).toBe('{}');
});

test('a level reaches what is wanted, in the order of the protocol; a foreign one reaches nothing', () => {
  for (const [index, wanted] of logLevels.entries()) {
    expect(logLevels.filter((level) => reachesLevel(level, wanted))).toEqual(logLevels.slice(index));
    for (const foreign of ['loud', '', 7, null, undefined, {}]) expect(reachesLevel(foreign, wanted)).toBe(false);
  }
  expect(reachesLevel('loud', undefined)).toBe(true);
});
