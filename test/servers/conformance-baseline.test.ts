import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpFixture, startHttpFixture } from '../support/fixture-servers.ts';
import { type ConformanceResult, runConformance } from '../support/programs.ts';

/** What fails here fails in the fixture; what passes here and fails through the hub fails in the hub. */
let fixture: HttpFixture;

beforeAll(async () => {
  fixture = await startHttpFixture('everything.mjs', ['--http', '0']);
});

afterAll(() => fixture.stop());

const minutesMs = 150_000;

test('the released suite passes whole', { timeout: minutesMs }, async () => {
  const result = await runConformance({ suite: 'legacy', url: fixture.url, args: ['--suite', 'all'] });
  expect(failing(result)).toEqual([]);
  expect(result.code).toBe(0);
  expect(result.scenarios.size).toBe(32);
  expect(result.passed).toBe(44);
});

test('every requirement of 2025-11-25 is met', { timeout: minutesMs }, async () => {
  const result = await runConformance({ suite: 'modern', url: fixture.url, args: ['--requirements', '2025-11-25'] });
  expect(failing(result)).toEqual([]);
  expect(result.code).toBe(0);
  expect(result.scenarios.size).toBe(33);
  expect(result.passed).toBe(84);
});

test('every requirement of 2026-07-28 is met; tasks are an extension', { timeout: minutesMs }, async () => {
  const result = await runConformance({ suite: 'modern', url: fixture.url, args: ['--requirements', '2026-07-28'] });
  expect(failing(result).filter((name) => !name.startsWith('tasks-'))).toEqual([]);
  expect(result.code).toBe(0);
  expect(result.scenarios.size).toBe(50);
  expect(scoredNames(result).filter((name) => name.startsWith('tasks-'))).toEqual([]);
  expect(scoredNames(result)).toHaveLength(37);
});

test('through the proxy that adds a header the results are the same', { timeout: minutesMs }, async () => {
  const proxy = await startHttpFixture('add-header-proxy.mjs', ['--to', fixture.url], { AUTHORIZATION: 'Bearer x' });
  try {
    const args = ['--requirements', '2026-07-28'];
    const result = await runConformance({ suite: 'modern', url: proxy.url, args });
    expect(failing(result).filter((name) => !name.startsWith('tasks-'))).toEqual([]);
    expect(result.code).toBe(0);
  } finally {
    await proxy.stop();
  }
});

test('a server that fails is told scenario by scenario', { timeout: minutesMs }, async () => {
  const broken = await startHttpFixture('bad-http.mjs', ['500', '--on-call']);
  try {
    const args = ['--scenario', 'tools-call-image'];
    const result = await runConformance({ suite: 'legacy', url: broken.url, args });
    expect(result.code).toBe(1);
    expect(result.scenarios.get('tools-call-image')).toMatchObject({ passed: 0, failed: 1, scored: true });
    expect(result.scenarios.get('tools-call-image')?.problems[0]).toMatch(/^tools-call-image: /);
  } finally {
    await broken.stop();
  }
});

function failing({ scenarios }: ConformanceResult): string[] {
  return [...scenarios].filter(([, scenario]) => scenario.failed > 0).map(([name]) => name);
}

function scoredNames({ scenarios }: ConformanceResult): string[] {
  return [...scenarios].filter(([, scenario]) => scenario.scored).map(([name]) => name);
}
