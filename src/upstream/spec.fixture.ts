import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../base/index.ts';
import type { ServerSpec, StdioTransportSpec, TransportSpec } from '../domain/index.ts';
import { createChildren } from './children/index.ts';
import type { ProgramContext } from './connecting/program-context.ts';
import type { ProbeDeps, ProbeOptions } from './probe.ts';

export function specOf(transport: TransportSpec, ...fallbacks: TransportSpec[]): ServerSpec {
  const source = { file: 'quartermaster.yaml' };
  return {
    name: 'up',
    source,
    hides: [],
    description: undefined,
    enabled: true,
    shared: true,
    transport,
    fallbacks,
    tools: {},
    limits: { timeoutMs: 10_000, maxMs: 10_000, concurrency: 8, ratePerMin: undefined, graceMs: 3_600_000 },
    restrictedBy: [],
    access: { scopes: undefined, readOnly: false, writeRequiresApproval: false, trustAnnotations: false, source },
    isolation: 'shared',
    roots: 'none',
    reaches: [],
    cache: undefined,
    instead: undefined,
    connectionKey: 'key',
  };
}

/** A Node program as a server. */
export function nodeServer(...args: string[]): StdioTransportSpec {
  return { type: 'stdio', command: process.execPath, args, env: {}, cwd: join(import.meta.dirname, '..', '..') };
}

/** For programs that nobody confines. */
export const freePrograms: ProgramContext = { workspace: '/', home: undefined, npmShell: '/bin/sh', checkReach() {} };

/** The dependencies of a probe. Its children end with the test. */
export function lookDeps(redact: (text: string) => string = (text) => text): ProbeDeps {
  const parts = { clock: createSystemClock(), logger: createSilentLogger() };
  const children = createChildren(
    { ...parts, random: systemRandom },
    { baseEnv: { PATH: '/usr/bin:/bin' }, graceMs: 500 },
  );
  onTestFinished(() => children.close());
  return { ...parts, children, programs: freePrograms, redact };
}

export function lookOptions(spec: ServerSpec, more: Partial<ProbeOptions> = {}): ProbeOptions {
  const client = { name: 'quartermaster', version: '1' };
  return { spec, client, signal: new AbortController().signal, timeoutMs: 10_000, ...more };
}
