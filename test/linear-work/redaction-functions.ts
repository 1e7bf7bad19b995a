import type { CountedFunction } from './counted-function.ts';
import { credentialTexts, long, periodic, secret } from './hostile-texts.ts';
import { jsonTexts } from './json-functions.ts';

export const redactionFunctions: readonly CountedFunction[] = [
  {
    name: 'redactor.message',
    load: async () => (await redactor()).message,
    texts: [...credentialTexts, ...jsonTexts],
  },
  {
    name: 'redactor.json',
    load: async () => {
      const { json } = await redactor();
      return (text) => [json(text), json(JSON.stringify({ a: text }))];
    },
    texts: [...credentialTexts, ...jsonTexts],
  },
  {
    name: 'redactor.message of a text that is cut',
    load: async () => {
      const { message } = await redactor();
      return (text) => message(text, 100);
    },
    texts: credentialTexts,
  },
  {
    name: 'hideCredentials in a text that is cut',
    load: async () => {
      const { hideCredentials } = await import('../../src/vault/credential-text.ts');
      return (text) => hideCredentials(text, true);
    },
    texts: credentialTexts,
  },
];

/** Functions that cut a text to 100 characters first, so that no longer text costs more. */
export const cuttingFunctions: readonly CountedFunction[] = [
  {
    name: 'redactor.message',
    load: async () => {
      const { message } = await redactor();
      return (text) => message(text, 100);
    },
    texts: [...credentialTexts, ...jsonTexts],
  },
  {
    name: 'redactor.json of a long string',
    load: async () => {
      const { json } = await redactor();
      return (text) => json(text, 100);
    },
    texts: credentialTexts.map((text) => (length: number) => JSON.stringify({ a: text(length) })),
  },
  {
    name: 'redactor.json',
    load: async () => {
      const { json } = await redactor();
      return (text) => json(text, 100);
    },
    texts: jsonTexts,
  },
];

async function redactor(): Promise<{
  json(text: string, most?: number): string;
  message(text: string, most?: number): string;
}> {
  const { createRedactor } = await import('../../src/vault/index.ts');
  return createRedactor([secret, long, periodic, '1234567'], ['pin1', '1']);
}
