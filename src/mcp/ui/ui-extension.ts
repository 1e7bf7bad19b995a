import { isJsonObject } from '../../base/index.ts';

/** The extension by which tools have a user interface: MCP Apps. */
export const uiExtension = 'io.modelcontextprotocol/ui';

/** The declaration of a client or server, or undefined where it does not know the extension. */
export function uiDeclarationIn(capabilities: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isJsonObject(capabilities) || !isJsonObject(capabilities.extensions)) return undefined;
  const { extensions } = capabilities;
  const declared = Object.hasOwn(extensions, uiExtension) ? extensions[uiExtension] : undefined;
  return isJsonObject(declared) ? declared : undefined;
}

/**
 * What the hub declares where it speaks for all its clients: on connections that they share, and when it reads lists. A
 * server that has tools with a user interface offers them then; a client that knows nothing of these reads their text.
 */
export const sharedCapabilities: string = JSON.stringify({
  extensions: { [uiExtension]: { mimeTypes: ['text/html;profile=mcp-app'] } },
});
