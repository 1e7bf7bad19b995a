/**
 * A stdio server that reads URIs as many do: with `new URL()`. Of `file:` it takes the path, of others host name and path;
 * like servers in Java it drops parameters of segments, and like Windows dots at their end.
 *
 *   node url-reader.mjs
 */
import { createInterface } from 'node:readline';

const texts = { '/srv/private/s.txt': 'SECRET FILE', '/srv/pub/a.txt': 'open', 'board/minutes': 'SECRET MINUTES' };
const listed = ['file:///srv/pub/a.txt', 'memo://board/minutes'];

const answers = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { resources: {} },
    serverInfo: { name: 'url-reader', version: '1.0.0' },
  }),
  'resources/list': () => ({ resources: listed.map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: textOf(new URL(uri)) ?? 'nothing' }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});

function textOf({ protocol, hostname, pathname }) {
  const plain = decodeURIComponent(pathname).replaceAll(/;[^/]*/g, '');
  const kept = [];
  for (const segment of plain.slice(1).split('/')) {
    if (segment === '..') kept.pop();
    else kept.push(segment.replace(/(?<=[^.])\.{1,9}$/, ''));
  }
  const path = `/${kept.join('/')}`;
  return texts[protocol === 'file:' ? path : hostname + path];
}
