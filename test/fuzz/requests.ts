import type { Dice } from './dice.ts';
import { type Draft, fuzzedMessage, versions } from './messages.ts';

/** What a connection says, piece by piece, and how it takes its leave. */
export interface FuzzCase {
  readonly pieces: readonly Buffer[];
  /** `wait`: until an answer came or the other side closed · `end`: says that no more will come, then waits ·
   *  `destroy`: goes away at once. */
  readonly leave: 'wait' | 'end' | 'destroy';
}

export interface FuzzKeys {
  readonly token: string;
  readonly session: string;
}

export function fuzzedCase(dice: Dice, known: FuzzKeys): FuzzCase {
  const count = dice.chance(0.15) ? dice.below(4) + 2 : 1;
  const requests = Array.from({ length: count }, () => fuzzedRequest(dice, known));
  if (dice.chance(0.05)) requests.push(dice.bytes(dice.below(300)));
  const whole = Buffer.concat(requests);
  const cut = dice.chance(0.1) ? whole.subarray(0, dice.below(whole.length + 1)) : whole;
  return {
    pieces: dice.chance(0.2) ? inPieces(dice, cut) : [cut],
    leave: dice.chance(0.1) ? 'destroy' : dice.chance(0.08) ? 'end' : 'wait',
  };
}

function fuzzedRequest(dice: Dice, known: FuzzKeys): Buffer {
  if (dice.chance(0.02)) return Buffer.from(dice.pick(notHttp));
  const { origin, bytes } = fuzzedMessage(dice);
  const { lines, framed } = frame(dice, bytes);
  const era = dice.chance(0.8) ? mirrored(origin) : oddMirrored(dice);
  const head = [requestLine(dice), ...headers(dice, known), ...era, ...lines].join(dice.chance(0.02) ? '\n' : '\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), framed]);
}

const notHttp = [
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  'GET\r\n\r\n',
  '\r\n\r\n\r\n',
  'HELO localhost\r\n',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
];

function requestLine(dice: Dice): string {
  if (dice.chance(0.9)) return 'POST /mcp HTTP/1.1';
  if (dice.chance(0.4)) return `${dice.pick(['GET', 'GET', 'DELETE'])} /mcp HTTP/1.1`;
  const method = dice.pick([
    'PUT',
    'OPTIONS',
    'HEAD',
    'CONNECT',
    'TRACE',
    'PATCH',
    'post',
    'P\u0000ST',
    '',
    'A'.repeat(50),
  ]);
  const target = dice.pick([
    '/mcp',
    '/mcp?x=1',
    '/mcp/',
    '//mcp',
    '/MCP',
    '/%6dcp',
    'http://localhost/mcp',
    'http://evil.example/mcp',
    '*',
    '/',
    '/healthz',
    '/readyz',
    '/api/x',
    `/${'a'.repeat(5000)}`,
    `/${'a'.repeat(20_000)}`,
    '/mcp#x',
    '/\u0000',
    '',
  ]);
  return `${method} ${target} ${dice.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'http/1.1', ''])}`;
}

function headers(dice: Dice, known: FuzzKeys): string[] {
  const mostly = <T>(usual: T, others: readonly T[]): T => (dice.chance(0.96) ? usual : dice.pick(others));
  const lines = [
    mostly('Host: localhost', ['Host: evil.example', 'Host:', '', 'Host: [::1', 'Host: a, b', 'Host: localhost:x']),
    mostly(`Authorization: Bearer ${known.token}`, [
      '',
      'Authorization: Bearer',
      'Authorization: Basic eA==',
      `Authorization: Bearer ${'x'.repeat(500)}`,
    ]),
    mostly('Content-Type: application/json', [
      '',
      'Content-Type: text/plain',
      'Content-Type: application/json;;;',
      'Content-Type: ,',
    ]),
    mostly('Accept: application/json, text/event-stream', [
      '',
      'Accept: */*',
      'Accept: text/html',
      'Accept: application/json',
    ]),
    mostly(dice.pick(['Connection: close', '', '']), [
      '',
      'Connection: keep-alive',
      'Connection: upgrade',
      'Connection: close, x',
    ]),
  ];
  const session = `Mcp-Session-Id: ${mostly(known.session, ['', 'x', `${known.session}, x`, 'x'.repeat(2000)])}`;
  const run = `X-Quartermaster-Run: ${dice.pick(['run-1', '../..', '', 'x'.repeat(100)])}`;
  const origin = `Origin: ${dice.pick(['http://localhost', 'null', 'https://evil.example', 'x'])}`;
  if (dice.chance(0.8)) lines.push(session);
  if (dice.chance(0.05)) lines.push(run);
  if (dice.chance(0.05)) lines.push(origin);
  if (dice.chance(0.08)) lines.push(dice.pick(oddHeaders));
  return lines.filter((line) => line !== '');
}

/** The headers that belong to the message as it was meant. */
function mirrored({ method, params }: Draft): string[] {
  if (params?._meta === undefined) return ['MCP-Protocol-Version: 2025-11-25'];
  const name = params.name === undefined ? [] : [`Mcp-Name: ${params.name}`];
  return ['MCP-Protocol-Version: 2026-07-28', `Mcp-Method: ${method ?? ''}`, ...name];
}

function oddMirrored(dice: Dice): string[] {
  const lines: string[] = [];
  if (dice.chance(0.7)) lines.push(`MCP-Protocol-Version: ${dice.pick(versions)}`);
  if (dice.chance(0.6))
    lines.push(`Mcp-Method: ${dice.pick(['tools/call', 'tools/list', 'server/discover', 'x', ''])}`);
  if (dice.chance(0.6)) lines.push(`Mcp-Name: ${dice.pick(['echo', '=?base64?ZWNobw==?=', '=?base64?%%?=', ''])}`);
  return lines;
}

const oddHeaders = [
  'Expect: 100-continue',
  'Expect: the-unexpected',
  'Upgrade: websocket',
  'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'No colon here',
  'Space : before colon',
  ' folded: line',
  'X-Nul: a\u0000b',
  'X-Cr: a\rb',
  'X-High: \u00ff\u0080',
  ': no name',
  'Range: bytes=0-',
  'Cookie: a=b',
  'Content-Encoding: gzip',
  'Last-Event-ID: 7',
  'X-HTTP-Method-Override: DELETE',
  `X-Long: ${'x'.repeat(20_000)}`,
  Array.from({ length: 500 }, (_, index) => `X-${index}: 1`).join('\r\n'),
  '__proto__: x\r\nconstructor: y',
];

interface Framed {
  readonly lines: readonly string[];
  readonly framed: Buffer;
}

function frame(dice: Dice, body: Buffer): Framed {
  if (dice.chance(0.8)) return { lines: [`Content-Length: ${body.length}`], framed: body };
  if (dice.chance(0.4)) return { lines: ['Transfer-Encoding: chunked'], framed: chunked(dice, body) };
  const lines = dice.pick<readonly string[]>([
    [],
    [`Content-Length: ${body.length + 1 + dice.below(50)}`],
    [`Content-Length: ${dice.below(body.length + 1)}`],
    ['Content-Length: -1'],
    ['Content-Length: 99999999999999999999'],
    ['Content-Length: 1000000000'],
    [`Content-Length: 0x${body.length.toString(16)}`],
    [`Content-Length: +${body.length}`],
    [`Content-Length: ${body.length}`, `Content-Length: ${body.length + 1}`],
    [`Content-Length: ${body.length}, ${body.length}`],
    [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Transfer-Encoding: chunked, identity'],
    ['Transfer-Encoding: xchunked'],
    ['Transfer-Encoding:\u000bchunked'],
  ]);
  return { lines, framed: body };
}

function chunked(dice: Dice, body: Buffer): Buffer {
  const middle = dice.below(body.length + 1);
  const good = [body.subarray(0, middle), body.subarray(middle)].filter((part) => part.length > 0);
  const chunks = good.map((part) =>
    Buffer.concat([Buffer.from(`${size(dice, part.length)}\r\n`), part, Buffer.from('\r\n')]),
  );
  const end = dice.chance(0.8)
    ? '0\r\n\r\n'
    : dice.pick(['', '0\r\n', '0\r\nTrailer: x\r\n\r\n', '-1\r\n\r\n', '\r\n', 'zz\r\n']);
  return Buffer.concat([...chunks, Buffer.from(end)]);
}

function size(dice: Dice, length: number): string {
  const hex = length.toString(16);
  if (dice.chance(0.8)) return hex;
  return dice.pick([
    `${hex};ext=1`,
    `${hex};${'x'.repeat(20_000)}`,
    `0${hex}`,
    `${hex} `,
    'fffffffffffffffff',
    'g',
    '',
    `-${hex}`,
    (length + 5).toString(16),
  ]);
}

function inPieces(dice: Dice, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: dice.below(5) + 1 }, () => dice.below(bytes.length + 1)).toSorted((a, b) => a - b);
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
}
