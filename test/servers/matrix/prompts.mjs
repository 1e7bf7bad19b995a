import { completable } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { says } from './words.mjs';

export function registerPrompts(server, label) {
  server.registerPrompt('plain', { description: 'Without arguments' }, () => says(`${label}:plain`));

  server.registerPrompt(
    'greet',
    {
      description: 'Greets somebody',
      argsSchema: z.object({
        nonce: z.string(),
        who: completable(z.string(), (typed) => ['Ada', 'Grace'].map((name) => `${typed}-${label}-${name}`)),
      }),
    },
    ({ nonce, who }) => says(`${label}:${nonce}:${who}`),
  );
}
