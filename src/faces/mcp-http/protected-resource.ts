import type { IncomingMessage } from 'node:http';

const wellKnown = '/.well-known/oauth-protected-resource';

/** Where clients look for what an address wants of them (RFC 9728): at one of its own, or at that of the whole host. */
export const metadataPaths: readonly string[] = [`${wellKnown}/mcp`, `${wellKnown}/sse`, wellKnown];

/** What one of the addresses tells. No authorization server is named: there is none, an operator issues the tokens. */
export function resourceMetadata(host: string, path: string): string {
  const resource = path === wellKnown ? '/mcp' : path.slice(wellKnown.length);
  return JSON.stringify({
    resource: `http://${host}${resource}`,
    bearer_methods_supported: ['header'],
    resource_name: 'Quartermaster',
  });
}

/** The value of WWW-Authenticate; what is wrong is said only of a token that was sent (RFC 6750, 3.1). */
export function challenge({ url, headers }: IncomingMessage, problem: string): string {
  // Clients compare what they find there with the address that they were given.
  const resource = url?.startsWith('/sse') ? '/sse' : '/mcp';
  const parts = ['realm="quartermaster"'];
  // The guard has seen to it that a Host has no quotes.
  if (headers.host !== undefined) parts.push(`resource_metadata="http://${headers.host}${wellKnown}${resource}"`);
  if (/^bearer +\S/i.test(headers.authorization ?? '')) {
    parts.push('error="invalid_token"', `error_description="${problem.replaceAll(unquotable, ' ')}"`);
  }
  return `Bearer ${parts.join(', ')}`;
}

const unquotable = /[^ -~]|["\\]/g;
