import { attempt, type CountedFunction, times } from './counted-function.ts';

export const jsonTexts = [
  times('['),
  times('{"a":'),
  times('"\\'),
  times('\\"'),
  times('"'),
  times('  \r\n'),
  times('"a" : '),
  (n: number) => `["${'\\'.repeat(n)}"]`,
  (n: number) => `[${'1,'.repeat(n / 2)}1]`,
  (n: number) => JSON.stringify({ a: Array.from({ length: n / 8 }, (_, index) => `k${index}`) }),
  (n: number) => `{${Array.from({ length: n / 12 }, (_, index) => `"token${index}":"x"`).join(',')}}`,
  (n: number) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ password: '-eyJ'.repeat(n / 4) }) }) }),
];

export const jsonFunctions: readonly CountedFunction[] = [
  {
    name: 'validateJson',
    load: async () => {
      const { validateJson } = await import('../../src/mcp/json/validate-json.ts');
      return (text) => attempt(() => validateJson(text, 512));
    },
    texts: [
      ...jsonTexts,
      (n) => `"${'x'.repeat(n)}"`,
      (n) => `"${'\\u0041'.repeat(n / 6)}"`,
      (n) => `"${'x\\n'.repeat(n / 3)}"`,
      (n) => `[${'-1.5e3,'.repeat(n / 7)}1]`,
      (n) => '1'.repeat(n),
    ],
  },
  {
    name: 'readBody and readUpstreamMessage',
    load: async () => {
      const { readBody } = await import('../../src/mcp/message.ts');
      const { readUpstreamMessage } = await import('../../src/mcp/upstream-message.ts');
      return (text) => [attempt(() => readBody(text)), attempt(() => readUpstreamMessage(text))];
    },
    texts: [
      ...jsonTexts,
      (n) => `{"jsonrpc":"2.0","id":1,"result":{"a":"${'\\u0041'.repeat(n / 6)}"}}`,
      (n) => `{${'"a":1,'.repeat(n / 6)}"b":1}`,
    ],
  },
  {
    name: 'mapResultStrings',
    load: async () => {
      const { mapResultStrings } = await import('../../src/mcp/index.ts');
      return (text) =>
        attempt(() => mapResultStrings({ text: JSON.stringify(JSON.parse(text)), value: {} }, (each) => each));
    },
    texts: [
      ...jsonTexts,
      (n) => `{"content":[${'{"text":"a","uri":"ui://x"},'.repeat(n / 28)}1]}`,
      (n) => `${'{"structuredContent":'.repeat(n / 42)}"x"${'}'.repeat(n / 42)}`,
    ],
  },
  {
    name: 'canonicalJson and canonicalText',
    load: async () => {
      const { canonicalJson, canonicalText } = await import('../../src/mcp/index.ts');
      return (text) => attempt(() => [canonicalJson(JSON.parse(text)), canonicalText(text)]);
    },
    texts: [
      ...jsonTexts,
      // Half of it is depth, half of it is at the bottom.
      (n) => `${'{"a":0,"b":'.repeat(n / 22)}${JSON.stringify('x'.repeat(n / 2))}${'}'.repeat(n / 22)}`,
      (n) => `${'['.repeat(n / 4)}${JSON.stringify('x'.repeat(n / 2))}${']'.repeat(n / 4)}`,
    ],
  },
];
