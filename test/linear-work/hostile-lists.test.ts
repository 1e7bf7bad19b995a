import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { createWorkCounter, type WorkCounter } from './counted-work.ts';

let counter: WorkCounter;

beforeAll(async () => {
  counter = await createWorkCounter();
});

afterAll(() => counter.close());

/** Each has as many normal forms as a URI may have. */
const uris = Array.from({ length: 8 }, (_, index) => `x://u@h:80/r${index}/%41%42/../${'%2541%252e/./../'.repeat(20)}`);
const characters = uris.join('').length;

describe(verifies('cost:linear', 'a list of hostile URIs costs an agent little'), () => {
  test('where no rule or list is about URIs, and again for the next agent', async () => {
    const { createViews } = await import('../../src/calls/views/views.ts');
    const { createManualClock } = await import('../../src/base/manual-clock.fixture.ts');
    const { draftConfiguration } = await import('../../src/governance/policy/configuration.fixture.ts');
    const { catalogWith, handlesOf, sourceOf } = await import('../../src/calls/scripted-server.fixture.ts');
    const dear: string[] = [];
    for (const policy of [{}, { 'a.delete_*': 'deny' }, { '*.resource:file:///etc/*': 'deny' }] as const) {
      const configuration = draftConfiguration({ servers: { a: {} }, policy });
      const servers = handlesOf(configuration, {});
      for (const server of servers.values()) server.catalog = catalogWith({ resources: uris });
      const views = createViews({ clock: createManualClock() }, sourceOf(configuration, servers));
      const listFor = (agent: string) => () => views.of([agent]).digestOf('resource');
      const first = await counter.count(listFor('one'), Number.POSITIVE_INFINITY);
      const second = await counter.count(listFor('two'), Number.POSITIVE_INFINITY);
      const aboutUris = '*.resource:file:///etc/*' in policy;
      // With a rule on URIs, those that can be read in too many ways are hidden.
      expect(JSON.parse(views.of(['two']).resourcesText)).toHaveLength(aboutUris ? 0 : uris.length);
      if (!aboutUris && first > 60 * characters)
        dear.push(`first with ${JSON.stringify(policy)}: ${first / characters}`);
      if (second > 20 * characters) dear.push(`second with ${JSON.stringify(policy)}: ${second / characters}`);
    }
    expect(dear).toEqual([]);
  }, 120_000);
});
