import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMovingClock } from '../../test/support/moving-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import { HubError } from '../base/index.ts';
import { createRequestStates, type RequestStates, type StateClaims } from './request-state.ts';

const lifeMs = 600_000;
const key = Buffer.alloc(32, 7);

function createStates(
  deps: { readonly clock?: ReturnType<typeof createMovingClock>; readonly key?: Uint8Array } = {},
): RequestStates {
  return createRequestStates({ clock: createMovingClock(), key, ...deps }, { lifeMs });
}

/** The subject is made only when it is needed. */
function open(
  states: RequestStates,
  text: unknown,
  { principal, subject }: Pick<StateClaims, 'principal' | 'subject'>,
): ReturnType<RequestStates['open']> {
  return states.open(text, { principal, subject: () => subject });
}

const claims: StateClaims = { kind: 'relay', value: 'upstream-state', principal: 'agent', subject: 'tools/call a {}' };

/** Any string, with halves of surrogate pairs and whatever else 16 bits can say. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('', '.', 'qm2.', '\ud800', '\udc00', '\ufffd', '\ud83d\ude00', '\0', '\u2028', '"\\'),
);
const anyClaims = fc.record<StateClaims>({
  kind: fc.constantFrom('relay', 'awaiting-input', 'again'),
  value: anyText,
  principal: anyText,
  subject: anyText,
});

test('what is sealed comes back exactly, to the same principal and for the same subject only', () => {
  const states = createStates();
  fc.assert(
    fc.property(anyClaims, anyText, (given, other) => {
      const text = states.seal(given);
      const { kind, value, principal, subject } = given;
      expect(text).toMatch(/^qm2\.[\w-]+\.[\w-]{43}\.[\w-]{43}$/);
      expect(open(states, text, { principal, subject })).toEqual({ kind, value });
      fc.pre(other !== principal && other !== subject);
      expect(open(states, text, { principal: other, subject })).toBeUndefined();
      expect(open(states, text, { principal, subject: other })).toBeUndefined();
    }),
  );
});

test('principal and subject are not one text: what moves from one to the other is another pair', () => {
  const states = createStates();
  const text = states.seal({ ...claims, principal: 'ab', subject: 'c' });
  expect(open(states, text, { principal: 'a', subject: 'bc' })).toBeUndefined();
  expect(open(states, text, { principal: 'c', subject: 'ab' })).toBeUndefined();
});

test('halves of surrogate pairs are told apart', () => {
  const states = createStates();
  const text = states.seal({ ...claims, principal: '\ud800' });
  expect(open(states, text, { ...claims, principal: '\ud801' })).toBeUndefined();
  expect(open(states, text, { ...claims, principal: '\ufffd' })).toBeUndefined();
});

test('every single changed, added or missing character is refused', () => {
  const states = createStates();
  for (const value of ['', 'x', 'xy', 'xyz']) {
    const text = states.seal({ ...claims, value });
    const changed = [...text].flatMap((own, at) => {
      const [before, after] = [text.slice(0, at), text.slice(at + 1)];
      // The last ones look like the character itself to what keeps only some of its bits.
      const others = [...alphabet, ...[0x100, 0x10000].map((more) => String.fromCodePoint(own.charCodeAt(0) + more))];
      return [
        before,
        before + after,
        ...others.flatMap((other) => [before + other + after, before + other + own + after]),
      ];
    });
    changed.push(...[...alphabet].map((more) => text + more));
    const opened = changed.filter((given) => given !== text && open(states, given, claims) !== undefined);
    expect(opened).toEqual([]);
  }
});

test(verifies('cost:linear', 'the subject of a made-up state is never made'), () => {
  const states = createStates();
  const subject = (): string => {
    throw new Error('it was made');
  };
  const text = states.seal(claims);
  for (const given of ['x', 'qm2.', 'qm2.x.y.z', `${text.slice(0, 20)}x${text.slice(21)}`]) {
    expect(states.open(given, { principal: claims.principal, subject })).toBeUndefined();
  }
  expect(states.open(text, { principal: 'another', subject })).toBeUndefined();
  expect(() => states.open(text, { principal: claims.principal, subject })).toThrow('it was made');
});

test('two states cannot be made into a third', () => {
  const states = createStates();
  const [one, two] = [states.seal(claims), states.seal({ ...claims, kind: 'awaiting-input', value: 'id' })].map(
    (text) => text.split('.'),
  );
  for (const parts of [
    [one?.[0], one?.[1], one?.[2], two?.[3]],
    [one?.[0], one?.[1], two?.[2], two?.[3]],
    [one?.[0], two?.[1], one?.[2], one?.[3]],
    [one?.[0], one?.[1], one?.[3], one?.[2]],
  ]) {
    expect(open(states, parts.join('.'), claims)).toBeUndefined();
  }
});

test('a state lives as long as it was told to, by the wall clock', () => {
  const clock = createMovingClock();
  const states = createStates({ clock });
  const text = states.seal(claims);
  clock.advance(lifeMs - 60_000);
  expect(open(states, text, claims)).toEqual({ kind: 'relay', value: 'upstream-state' });
  clock.advance(60_000);
  expect(open(states, text, claims)).toBeUndefined();
});

test('another process with the same key opens it, one with another key does not', () => {
  const text = createStates().seal(claims);
  expect(open(createStates({ key: new Uint8Array(key) }), text, claims)).toBeDefined();
  expect(open(createStates({ key: Buffer.alloc(32, 8) }), text, claims)).toBeUndefined();
});

test('the key is taken as it is at the start', () => {
  const mine = Buffer.from(key);
  const states = createStates({ key: mine });
  mine.fill(0);
  expect(open(createStates(), states.seal(claims), claims)).toBeDefined();
});

test('nothing of principal and subject can be read, and their size does not matter', () => {
  const states = createStates();
  const long = states.seal({ ...claims, principal: 'p'.repeat(100_000), subject: 's'.repeat(100_000) });
  expect(long.length).toBe(states.seal(claims).length);
  const [, body] = states.seal(claims).split('.');
  const readable = Buffer.from(String(body), 'base64url').toString();
  expect(readable).toContain(claims.value);
  expect(readable).not.toContain(claims.principal);
  expect(readable).not.toContain('tools');
});

test('garbage of any kind is refused', () => {
  const states = createStates();
  const text = states.seal(claims);
  const garbage: unknown[] = [undefined, null, true, 0, Number.NaN, 7n, Symbol('x'), [], {}, [text], { text }];
  garbage.push(new String(text), Buffer.from(text), () => text);
  garbage.push(
    '',
    '.',
    '..',
    'qm2',
    'qm2.',
    'qm2..',
    'qm2...',
    `${text}\n`,
    ` ${text}`,
    `${text}=`,
    text.toUpperCase(),
  );
  garbage.push(text.replace('qm2.', 'qm3.'), text.replace('qm2.', ''), text.replace('.', '..'), `qm2.${text}`);
  for (const given of garbage) expect(open(states, given, claims)).toBeUndefined();
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        anyText.map((rest) => `qm2.${rest}`),
        fc.anything(),
      ),
      (given) => {
        expect(open(states, given, claims)).toBeUndefined();
      },
    ),
  );
});

test('a state over the limit is not even looked at, and none is made', () => {
  const states = createStates();
  const fits = { ...claims, value: 'x'.repeat(780_000) };
  expect(open(states, states.seal(fits), fits)).toEqual({ kind: 'relay', value: fits.value });
  expect(() => states.seal({ ...claims, value: 'x'.repeat(800_000) })).toThrow(HubError);
  expect(open(states, signed('x'.repeat(780_000)), claims)).toBeDefined();
  expect(open(states, signed('x'.repeat(800_000)), claims)).toBeUndefined();
});

/** What seal() would make of a value if it knew no limit. */
function signed(value: string): string {
  const content = `qm2.${Buffer.from(JSON.stringify(['relay', Date.now() + lifeMs, value])).toString('base64url')}`;
  const own = `${content}.${mac(content, [claims.principal])}`;
  return `${own}.${mac(own, [claims.principal, claims.subject])}`;
}

function mac(content: string, bound: readonly string[]): string {
  const code = createHmac('sha256', key);
  for (const text of bound) code.update(createHash('sha256').update(text, 'utf16le').digest());
  return code.update(content).digest('base64url');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0é';
