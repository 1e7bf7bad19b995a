import type { IncomingMessage } from 'node:http';

/** Where clients look for what `/mcp` wants of them (RFC 9728): at its own address, or at that of the whole host. */
export const metadataPaths: readonly string[] = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource',
];

/** What `/mcp` is. No authorization server is named: there is none, an operator issues the tokens. */
export function resourceMetadata(host: string): string {
  return JSON.stringify({
    resource: `http://${host}/mcp`,
    bearer_methods_supported: ['header'],
    resource_name: 'Quartermaster',
  });
}

/** The value of WWW-Authenticate; what is wrong is said only of a token that was sent (RFC 6750, 3.1). */
export function challenge({ headers }: IncomingMessage, problem: string): string {
  const parts = ['realm="quartermaster"'];
  // The guard has seen to it that a Host has no quotes.
  if (headers.host !== undefined) parts.push(`resource_metadata="http://${headers.host}${metadataPaths[0]}"`);
  if (/^bearer +\S/i.test(headers.authorization ?? '')) {
    parts.push('error="invalid_token"', `error_description="${problem.replaceAll(unquotable, ' ')}"`);
  }
  return `Bearer ${parts.join(', ')}`;
}

const unquotable = /[^ -~]|["\\]/g;
