import { expect, test } from 'vitest';
import { isEverydayRun } from '../../support/everyday.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { runClientConformance } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';

/**
 * The official conformance suite as the server behind the hub, with the hub as the client that it tests. What passes is
 * written down by name, so that a scenario that is not run any more is noticed too. Logins are left out, as is the extension for skills, of which the hub knows nothing.
 */
const schemas = 'json-schema-2020-12-preservation';
const legacy = ['elicitation-sep1034-client-defaults', 'initialize', 'sse-retry', 'tools_call'];
const modern = [
  'http-custom-headers',
  'http-invalid-tool-headers',
  'http-standard-headers',
  schemas,
  'json-schema-ref-no-deref',
  'request-metadata',
  'sep-2322-client-request-state',
  'tools_call',
];

const suites = [
  // The era of the client behind the hub, which the server must not notice.
  ['the released suite', 'legacy', '2025-11-25', 'modern', legacy],
  ['the scenarios of 2025-11-25', 'modern', '2025-11-25', 'legacy', [...legacy, schemas]],
  ['the scenarios of 2026-07-28', 'modern', '2026-07-28', 'modern', modern],
] as const;

// The pre-release has every scenario of the released suite.
test.each(suites.filter(([, suite]) => suite === 'modern' || !isEverydayRun()))(
  verifies('protocol:conformance-client', '%s'),
  { timeout: 120_000 },
  async (_, suite, revision, era, passing) => {
    const command = `"${process.execPath}" "${fixturePath('drive-hub.mjs')}" ${era}`;
    const scenarios = await runClientConformance({ suite, revision, command, without: 'auth/' });
    const names = [...scenarios.keys()].toSorted();
    const failed = names.filter((name) => scenarios.get(name)?.problems.length !== 0);
    expect(failed, JSON.stringify([...scenarios], undefined, 2)).toEqual([]);
    expect(names.filter((name) => (scenarios.get(name)?.passed ?? 0) > 0 && !failed.includes(name))).toEqual(
      passing.toSorted(),
    );
  },
);
