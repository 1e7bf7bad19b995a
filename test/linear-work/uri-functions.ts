import type { WorkBudget } from '../../src/base/index.ts';
import { type CountedFunction, times } from './counted-function.ts';

export const uriTexts = [
  times('../'),
  times('/..'),
  times('%2e'),
  times('a/'),
  (n: number) => `file://${'/'.repeat(n)}`,
  (n: number) => `memo://${'a/../'.repeat(n / 5)}`,
  times('{'),
  times('a{b}'),
  times('~'),
];

const oddUriTexts = [
  nestedNul,
  (n: number) => `memo://a/${nestedNul(n)}`,
  times('%25'),
  (n: number) => `memo://a%${'25'.repeat(n / 2)}00`,
  times('x%252500'),
  times('%00'),
  times('\0'),
  times('%C3'),
  times('%2541'),
  times('..;/'),
  times('a;b/'),
  times('. '),
  (n: number) => `memo://${'. .;'.repeat(n / 4)}x`,
  (n: number) => `memo://h${':1'.repeat(n / 2)}/x`,
  (n: number) => `memo://${'u@'.repeat(n / 2)}h:1/x`,
  (n: number) => `memo://u@h:1/${'a//%252e%252e/./%2525e9%EF%AC%81/../'.repeat(n / 36)}?a/../b#c/..`,
  (n: number) => `file://C:/${'|'.repeat(n)}`,
];

/** `%25…2500 … %2500 %00`: each decoding brings out one more NUL. */
function nestedNul(length: number): string {
  const layers = Math.floor(Math.sqrt(length));
  return Array.from({ length: layers }, (_, index) => `x%${'25'.repeat(layers - 1 - index)}00`).join('');
}

export const uriFunctions: readonly CountedFunction[] = [
  {
    name: 'parseUriTemplate and its matcher',
    load: async () => {
      const { parseUriTemplate } = await import('../../src/mcp/uri-templates/uri-template.ts');
      const template = parseUriTemplate('memo://{a}/{b}{?q,r*}');
      return (text) => [parseUriTemplate(text), template?.match(`memo://${text}`)];
    },
    texts: [...uriTexts, times('{a'), times('a,'), times('&q='), times('?')],
  },
  {
    name: 'decisions on resources',
    load: async () => {
      const { compilePolicy } = await import('../../src/governance/index.ts');
      const { draftConfiguration } = await import('../../src/governance/policy/configuration.fixture.ts');
      const { parseUriTemplate } = await import('../../src/mcp/uri-templates/uri-template.ts');
      const rules = ['memo://secret/*', 'memo://{a}/{b}{?q,r*}', 'memo://{+x}/y'];
      const policy = Object.fromEntries(rules.map((rule) => [`memo.resource:${rule}`, 'deny' as const]));
      const { decideRead } = compilePolicy(draftConfiguration({ servers: { memo: {} }, policy }), ['dev']);
      const texts = [...rules.slice(1), ...Array.from({ length: 64 }, (_, index) => `memo://{+a}/{b}/${index}`)];
      const templates = texts.map((text) => {
        const form = parseUriTemplate(text);
        return { text, fits: (uri: string, budget: WorkBudget) => form?.match(uri, budget) !== undefined };
      });
      // Longer ones are refused unseen.
      return (text) => decideRead('memo', `resource:memo://${text}`.slice(0, 1 + text.length / 2), () => templates);
    },
    texts: [...uriTexts, ...oddUriTexts],
  },
  {
    name: 'uriForms and wildcards',
    load: async () => {
      const { uriForms } = await import('../../src/governance/policy/uris/uri-forms.ts');
      const { compileWildcard, matchesWildcard } = await import('../../src/domain/wildcard.ts');
      const wildcard = compileWildcard('*a*b*c');
      const { uriProblem } = await import('../../src/governance/policy/uris/percent-decoding.ts');
      return (text) => [
        uriForms(text).spellings(),
        uriProblem(text),
        matchesWildcard(wildcard, text),
        compileWildcard(`${text}*`),
      ];
    },
    texts: [...uriTexts, ...oddUriTexts, times('ab'), times('*')],
  },
];
