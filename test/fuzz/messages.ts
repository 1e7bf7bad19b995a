import type { Dice } from './dice.ts';

/** A message that is nearly right, as bytes, and the one it was made of. */
export interface FuzzedMessage {
  readonly origin: Draft;
  readonly bytes: Buffer;
}

export function fuzzedMessage(dice: Dice): FuzzedMessage {
  const origin = baseMessage(dice);
  const message = dice.chance(0.08) ? batch(dice) : origin;
  const mutated = dice.chance(0.6) ? message : mutate(dice, message, dice.below(3) + 1);
  return { origin, bytes: distort(dice, toText(dice, mutated)) };
}

export interface Draft {
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly _meta?: object; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** A message that a client might well send. */
function baseMessage(dice: Dice): Draft {
  const id = dice.pick([1, 2, 'a', 0, -1]);
  const call = (name: string, args: object): Draft => ({
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  const message = dice.pick<Draft>([
    { id, method: 'initialize', params: { protocolVersion: dice.pick(versions), capabilities: {}, clientInfo: info } },
    { id, method: 'ping' },
    { id, method: 'tools/list', params: {} },
    { id, method: 'server/discover', params: {} },
    { id, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } },
    { id, method: dice.pick(['resources/list', 'no/such', '', 'tools/call ', 'toString']), params: {} },
    call('echo', { message: 'hi' }),
    call('echo_add', { a: 1, b: 2 }),
    call('echo_fail', {}),
    call('echo_slow', { ms: 5 }),
    call('no_such_tool', {}),
    { method: 'notifications/initialized' },
    { method: 'notifications/cancelled', params: { requestId: id } },
    { id, result: {} },
    { id, error: { code: -1, message: 'x' } },
  ]);
  const claimed = dice.chance(0.4) ? { params: { ...message.params, _meta: meta(dice) } } : {};
  return { jsonrpc: '2.0', ...message, ...claimed };
}

export const versions = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', '2024-11-05', '2027-01-01', '1', ''];
const info = { name: 'fuzz', version: '1' };

function meta(dice: Dice): object {
  return {
    'io.modelcontextprotocol/protocolVersion': dice.chance(0.8) ? '2026-07-28' : dice.pick(versions),
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(dice.chance(0.5) ? { progressToken: dice.pick([1, 'tok', 1.5, null, {}, []]) } : {}),
    ...(dice.chance(0.3) ? { 'io.modelcontextprotocol/clientInfo': dice.pick([info, {}, 7, { name: 1 }]) } : {}),
  };
}

function batch(dice: Dice): unknown {
  return Array.from({ length: dice.pick([0, 1, 2, 3, 64, 65, 100]) }, () => baseMessage(dice));
}

/** Text that JSON.stringify cannot make, put in place of a marker. */
const rawValues = [
  '1e400',
  '-0',
  '1e-400',
  '123456789012345678901234567890',
  '0.1e1',
  '9007199254740993',
  '"\\ud800"',
  '"\\u0000"',
  '"\\uFEFF"',
  '01',
  '.5',
  'NaN',
  'Infinity',
  'undefined',
  "'x'",
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '[,]',
  '{,}',
  '"\t"',
  '/**/1',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'['.repeat(70)}${']'.repeat(70)}`,
  `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  '['.repeat(20_000),
];
const plainValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  '',
  'x',
  '💥',
  'x'.repeat(10_000),
  [],
  [[]],
  {},
  { a: { b: {} } },
];
const marker = '\u0001raw\u0001';
const keys = ['jsonrpc', 'id', 'method', 'params', 'name', 'arguments', '_meta', 'result', 'error', '__proto__', 'x'];

function mutate(dice: Dice, message: unknown, times: number): unknown {
  let current = message;
  for (let round = 0; round < times; round++) current = mutateOnce(dice, current, 0);
  return current;
}

function mutateOnce(dice: Dice, node: unknown, depth: number): unknown {
  if (typeof node !== 'object' || node === null || depth > 4 || dice.chance(0.15)) return anyValue(dice);
  if (Array.isArray(node)) {
    const at = dice.below(node.length + 1);
    return [...node.slice(0, at), mutateOnce(dice, node[at], depth + 1), ...node.slice(at + 1)];
  }
  const own = Object.keys(node);
  const key = own.length === 0 || dice.chance(0.15) ? dice.pick(keys) : dice.pick(own);
  const entries = Object.entries(node);
  if (dice.chance(0.2)) return Object.fromEntries(entries.filter(([name]) => name !== key));
  const value = mutateOnce(dice, Object.getOwnPropertyDescriptor(node, key)?.value, depth + 1);
  return Object.fromEntries([...entries.filter(([name]) => name !== key), [key, value]]);
}

function anyValue(dice: Dice): unknown {
  return dice.chance(0.5) ? marker : dice.pick(plainValues);
}

function toText(dice: Dice, value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replaceAll(JSON.stringify(marker), () => dice.pick(rawValues));
}

/** Damage below the level of JSON. */
function distort(dice: Dice, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!dice.chance(0.12)) return bytes;
  const at = dice.below(bytes.length + 1);
  return dice.pick([
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes.subarray(0, at), dice.bytes(dice.below(8) + 1), bytes.subarray(at)]),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () => Buffer.concat([bytes, Buffer.from(' '), bytes]),
    () => Buffer.concat([bytes, Buffer.alloc(dice.below(100), 32)]),
    () => Buffer.from(text, 'utf16le'),
    () => dice.bytes(dice.below(200)),
    () => Buffer.alloc(dice.pick([19_000, 21_000, 100_000]), 0x20),
  ])();
}
