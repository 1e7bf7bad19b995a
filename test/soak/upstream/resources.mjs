import { ResourceTemplate } from '@modelcontextprotocol/server';

/** A note for all, a private one that a rule denies, and pages by a template. */
export function registerResources(server, label) {
  const plain = { mimeType: 'text/plain' };
  const text = (uri, words) => ({ contents: [{ uri: uri.href, ...plain, text: words }] });
  for (const name of ['note', 'private']) {
    server.registerResource(name, `memo://${label}/${name}`, plain, (uri) => text(uri, `${label}:${name}`));
  }
  const template = new ResourceTemplate(`memo://${label}/{topic}/{page}`, { list: undefined });
  server.registerResource('page', template, plain, (uri, { topic, page }) => text(uri, `${label}:${topic}:${page}`));
}
