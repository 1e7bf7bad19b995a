import { said, says } from './words.mjs';

/** What `grow` adds. */
export function grownTool(server, label, name) {
  server.registerTool(name, { description: `Added to ${label}` }, () => said(`${label}:${name}`));
}

export function grownPrompt(server, label, name) {
  server.registerPrompt(name, { description: `Added to ${label}` }, () => says(`${label}:${name}`));
}

export function grownResource(server, label, name) {
  server.registerResource(name, `grown://${label}/${name}`, { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: `${label}:${name}` }],
  }));
}
