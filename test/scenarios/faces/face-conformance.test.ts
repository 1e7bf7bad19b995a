import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isEverydayRun } from '../../support/everyday.ts';
import { fixturePath, type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { type ConformanceResult, runConformance } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';

/** The official conformance suite through the hub, with the everything fixture behind it. */
const minutes = { timeout: 150_000 };

describe.each(['http', 'stdio'])('over a server on %s', (transport) => {
  let upstream: HttpFixture | undefined;
  const running: { hub: RunningGateway; proxy: HttpFixture }[] = [];

  /** A legacy server may ask its callers only where they do not all share a connection; a modern one may always. */
  async function open(isolation: 'shared' | 'per-session'): Promise<string> {
    const command = { command: process.execPath, args: [fixturePath('everything.mjs'), '--stdio'] };
    const everything = { ...(upstream === undefined ? command : { url: upstream.url }), isolation, roots: 'client' };
    const hub = await startGateway({ naming: 'preserved', servers: { everything } });
    const env = { AUTHORIZATION: `Bearer ${await hub.token()}` };
    const proxy = await startHttpFixture('add-header-proxy.mjs', ['--to', hub.url], env);
    running.push({ hub, proxy });
    return proxy.url;
  }

  beforeAll(async () => {
    if (transport === 'http') upstream = await startHttpFixture('everything.mjs', ['--http', '0']);
  });

  afterAll(async () => {
    for (const { hub, proxy } of running) {
      await proxy.stop();
      await hub.stop();
    }
    await upstream?.stop();
  });

  // The released suite is nearly the same as the requirements below, and each of its sessions starts a process here.
  const isRepeated = transport === 'stdio' && isEverydayRun();
  if (!isRepeated)
    test(verifies('protocol:conformance-2025', 'the released suite'), minutes, async () => {
      const url = await open('per-session');
      const result = await runConformance({ suite: 'legacy', url, args: ['--suite', 'all'] });
      expect(failing(result)).toEqual([]);
      expect(result.code).toBe(0);
      expect(result.scenarios.size).toBe(32);
      expect(untested(result)).toEqual(['server-sse-polling']);
    });

  test(verifies('protocol:conformance-2025', 'the requirements of 2025-11-25'), minutes, async () => {
    const url = await open('per-session');
    const result = await runConformance({ suite: 'modern', url, args: ['--requirements', '2025-11-25'] });
    expect(failing(result)).toEqual([]);
    expect(result.code).toBe(0);
    expect(result.scenarios.size).toBe(33);
    expect(untested(result)).toEqual(['server-sse-polling']);
  });

  test(verifies('protocol:conformance-2026', 'the requirements of 2026-07-28'), minutes, async () => {
    const url = await open('shared');
    const result = await runConformance({ suite: 'modern', url, args: ['--requirements', '2026-07-28'] });
    // The fixture has no tasks.
    expect(failing(result).filter((name) => !name.startsWith('tasks-'))).toEqual([]);
    expect(result.code).toBe(0);
    expect(scored(result)).toHaveLength(37);
    expect(scored(result).filter((name) => name.startsWith('tasks-'))).toEqual([]);
  });
});

/** With what was wrong, so that a failure tells its story. */
function failing({ scenarios }: ConformanceResult): string[] {
  return namesWhere(scenarios, ({ failed, warnings }) => failed > 0 || warnings > 0).map((name) => {
    const [problem] = scenarios.get(name)?.problems ?? [];
    return `${name}: ${problem}`;
  });
}

/** The suite found nothing to check: the hub goes on with an answer whose stream its server closed. */
function untested({ scenarios }: ConformanceResult): string[] {
  return namesWhere(scenarios, ({ passed, failed, warnings }) => passed + failed + warnings === 0);
}

function scored({ scenarios }: ConformanceResult): string[] {
  return namesWhere(scenarios, (scenario) => scenario.scored);
}

type Scenario = ConformanceResult['scenarios'] extends ReadonlyMap<string, infer S> ? S : never;

function namesWhere(scenarios: ConformanceResult['scenarios'], check: (scenario: Scenario) => boolean): string[] {
  return [...scenarios]
    .filter(([, scenario]) => check(scenario))
    .map(([name]) => name)
    .toSorted();
}
