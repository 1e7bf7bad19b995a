import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { challenge } from './protected-resource.ts';

test('whatever a problem is called, the challenge stays one line of quoted strings', () => {
  const request = { headers: { host: 'localhost', authorization: 'Bearer x' } } as IncomingMessage; // it reads these
  expect(challenge(request, 'say "no"\r\nX: \\ é')).toBe(
    'Bearer realm="quartermaster", ' +
      'resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp", ' +
      'error="invalid_token", error_description="say  no   X:    "',
  );
});
