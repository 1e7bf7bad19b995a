import { ResourceTemplate } from '@modelcontextprotocol/server';

/** Two of its own, one under an address that other servers have too, and as many as the template has names for. */
export function registerResources(server, label) {
  const plain = { mimeType: 'text/plain' };
  const text = (uri, words) => ({ contents: [{ uri: uri.href, ...plain, text: words }] });

  server.registerResource('note', `memo://${label}/note`, plain, (uri) => text(uri, `${label}:note`));
  server.registerResource('bytes', `memo://${label}/bytes`, { mimeType: 'application/octet-stream' }, (uri) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: 'application/octet-stream',
        blob: Buffer.from(`${label}:bytes`).toString('base64'),
      },
    ],
  }));
  server.registerResource('readme', 'shared://readme', plain, (uri) => text(uri, `${label}:readme`));

  const template = new ResourceTemplate(`memo://${label}/{topic}/{page}`, {
    list: undefined,
    complete: {
      topic: (typed) => ['apples', 'pears'].map((topic) => `${typed}-${label}-${topic}`),
      page: (typed, context) => [1, 2].map((page) => `${typed}-${context?.arguments?.topic ?? 'nothing'}-${page}`),
    },
  });
  server.registerResource('page', template, plain, (uri, { topic, page }) => text(uri, `${label}:${topic}:${page}`));
}
