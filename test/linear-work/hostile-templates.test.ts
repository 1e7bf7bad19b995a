import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { createWorkCounter, type WorkCounter } from './counted-work.ts';

/**
 * A server may list 256 templates with 16 variables each, and an agent may send a URI with many possible readings.
 * The work must not grow with the product of templates, variables, readings and characters.
 */
const maxWork = 20_000_000;

let counter: WorkCounter;

beforeAll(async () => {
  counter = await createWorkCounter();
});

afterAll(() => counter.close());

const variables = Array.from({ length: 14 }, (_, index) => `{?s${index}*}`).join('');
const longLiteral = 'ab'.repeat(100);
/** None of these templates fits, but only a full comparison shows it. */
const shapes: Readonly<Record<string, (index: number) => string>> = {
  'no literals': (index) => `x:{secret${index}}${variables}{#end}`,
  'everything before the end': (index) => `x:{+secret${index}}${variables}{zz}z${index}`,
  'a long literal inside': (index) => `x:{+secret${index}}${longLiteral}{+other}`,
};
const uri = `x://u@h:1/a;b/%3b41/${'?a=b&c=d&'.repeat(220)}#q`;

describe(verifies('cost:linear', 'a decision on a URI costs no more than its budget'), () => {
  test.each(Object.keys(shapes))(
    'among 256 templates with %s',
    async (shape) => {
      const { hostileView, createAllowedSubscriptions } = await stage();
      const dear: string[] = [];
      for (const rules of [{}, { 'a.resource:*secret*': 'deny' }] as const) {
        const { view, views, completion } = hostileView(shapes[shape] ?? String, rules);
        // What is made once, at first use, is not the cost of a URI.
        view.find('resource', 'x:a');
        const { visibleCompletions } = await import('../../src/calls/views/visible-completions.ts');
        const values = Array.from({ length: 100 }, (_, index) => `/u@h:1/a;b/${index}?${'a=b&'.repeat(100)}`);
        const args = { argument: { name: 'open', value: '' } };
        const caller = { agent: 'dev', project: 'workspace', chain: ['dev'], tokenId: undefined, run: 'r' };
        const subscription = createAllowedSubscriptions(views)(caller, 'x:open/y', () => {});
        const works: Readonly<Record<string, () => unknown>> = {
          read: () => view.find('resource', uri),
          completion: () => visibleCompletions(view, completion, args, { values }),
          updates: () => {
            for (let part = 0; part < 20; part++) subscription.updated(`x:open/y/${part}/u@h;b/%3b41/?a=b&c=d#q`);
          },
        };
        for (const [name, work] of Object.entries(works)) {
          const steps = await counter.count(work, Number.POSITIVE_INFINITY);
          if (steps > maxWork) dear.push(`${name} with ${JSON.stringify(rules)}: ${steps}`);
        }
      }
      expect(dear).toEqual([]);
    },
    120_000,
  );
});

/** Modules are loaded while their work is counted. */
async function stage() {
  const { compilePolicy } = await import('../../src/governance/index.ts');
  const { draftConfiguration } = await import('../../src/governance/policy/configuration.fixture.ts');
  const { catalogWith, handlesOf, sourceOf } = await import('../../src/calls/scripted-server.fixture.ts');
  const { buildView } = await import('../../src/calls/views/view.ts');
  const { createAllowedSubscriptions } = await import('../../src/calls/subscriptions/allowed-subscription.ts');

  function hostileView(shape: (index: number) => string, policy: Readonly<Record<string, 'deny'>>) {
    const configuration = draftConfiguration({ servers: { a: {} }, policy });
    const servers = handlesOf(configuration, {});
    for (const server of servers.values()) {
      const templates = ['x:open/{+open}', ...Array.from({ length: 255 }, (_, index) => shape(index))];
      server.catalog = catalogWith({ templates });
    }
    const view = buildView(sourceOf(configuration, servers), compilePolicy(configuration, ['dev']), ['dev']);
    const completion = view.find('completion', 'resource:x:open/{+open}');
    if (completion === undefined) throw new Error('the view has what is completed');
    return { view, views: { of: () => view } as never, completion };
  }

  return { hostileView, createAllowedSubscriptions };
}
