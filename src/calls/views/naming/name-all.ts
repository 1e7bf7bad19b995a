import { parseUriTemplate } from '../../../mcp/index.ts';
import { namedTools } from '../server-tools.ts';
import type { ViewSource } from '../view.ts';

/**
 * Names everything in configuration order, so that the server configured first gets a contested name, no matter which
 * agent asked or which server answered first. An unavailable server keeps its names. One that has never listed anything
 * may have any name that could be its own.
 */
export function nameAll({ configuration, upstreams, names, promptNames, resourceNames }: ViewSource): void {
  resourceNames.adopt(configuration.servers.keys());
  for (const [server, { control }] of upstreams) {
    const catalog = control.catalog ?? control.lastCatalog;
    if (catalog === undefined) {
      names.reserve(server);
      promptNames.reserve(server);
      continue;
    }
    for (const { tool } of namedTools(catalog)) names.nameOf(server, tool.name);
    for (const { name } of catalog.prompts) promptNames.nameOf(server, name);
    for (const { uri } of catalog.resources) resourceNames.nameOf(server, uri);
    for (const { uriTemplate } of catalog.templates) {
      resourceNames.nameOf(server, uriTemplate);
      const form = parseUriTemplate(uriTemplate);
      if (form !== undefined) resourceNames.claim(server, form);
    }
  }
}
