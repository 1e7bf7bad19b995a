import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { type ConformanceResult, runConformance } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';

let upstream: HttpFixture;
let hub: RunningGateway;
let proxy: HttpFixture;
let result: ConformanceResult;

beforeAll(async () => {
  upstream = await startHttpFixture('tasks.mjs');
  hub = await startGateway({ naming: 'preserved', servers: { tasks: { url: upstream.url } } });
  const env = { AUTHORIZATION: `Bearer ${await hub.token()}` };
  proxy = await startHttpFixture('add-header-proxy.mjs', ['--to', hub.url], env);
  // The suite that holds them all: starting the program for each of them takes longer than what it does.
  result = await runConformance({ suite: 'modern', url: proxy.url, args: ['--suite', 'pending'] });
});

afterAll(async () => {
  await proxy?.stop();
  await hub?.stop();
  await upstream?.stop();
});

/** The suite runs them for information; how many of its checks pass is written down. */
const checks = {
  'tasks-lifecycle': 9,
  'tasks-capability-negotiation': 5,
  'tasks-wire-fields': 4,
  'tasks-request-state-removal': 3,
  'tasks-mrtr-input': 4,
  'tasks-request-headers': 5,
  'tasks-dispatch-and-envelope': 9,
  // The suite has no check for it yet.
  'tasks-status-notifications': 0,
  'tasks-required-task-error': 3,
  'tasks-mrtr-composition': 2,
};

test.each(Object.entries(checks))(
  verifies('tasks:relay', 'every check of %s passes through the hub'),
  (scenario, count) => {
    expect(result.scenarios.get(scenario)).toMatchObject({ passed: count, failed: 0, warnings: 0, problems: [] });
  },
);
