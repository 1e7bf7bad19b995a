import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Configuration, ConfiguredServer, Problem, ServerSpec } from '../domain/index.ts';
import { loadConfiguration } from './load-configuration.ts';

/** A directory for one test, removed afterwards. */
export async function createWorkspace(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const workspace = await mkdtemp(join(tmpdir(), 'config-'));
  onTestFinished(() => rm(workspace, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, name)), { recursive: true });
    await writeFile(join(workspace, name), content);
  }
  return workspace;
}

export async function load(
  files: Readonly<Record<string, string | Uint8Array>>,
  env: Readonly<Record<string, string>> = {},
  stored: Readonly<Record<string, string>> = {},
): Promise<Configuration> {
  const secrets = { file: 'secrets.json', values: async () => new Map(Object.entries(stored)) };
  return loadConfiguration({ env, secrets }, { workspace: await createWorkspace(files) });
}

export function own(text: string, env?: Readonly<Record<string, string>>): Promise<Configuration> {
  return load({ 'quartermaster.yaml': text }, env);
}

export function client(content: unknown, env?: Readonly<Record<string, string>>): Promise<Configuration> {
  return load({ '.mcp.json': typeof content === 'string' ? content : JSON.stringify(content, undefined, 2) }, env);
}

export function ready(configuration: Configuration, name: string): ServerSpec {
  const server = configuration.servers.get(name);
  if (server?.kind !== 'ready') throw new Error(`${name} is not ready: ${JSON.stringify(server)}`);
  return server.spec;
}

export function invalid(configuration: Configuration, name: string): Extract<ConfiguredServer, { kind: 'invalid' }> {
  const server = configuration.servers.get(name);
  if (server?.kind !== 'invalid') throw new Error(`${name} is not invalid`);
  return server;
}

/** The only problem. Fails if there are others, so that no test misses one. */
export function onlyProblem(configuration: Configuration): Problem {
  const [problem, ...others] = configuration.problems;
  if (problem === undefined || others.length > 0) {
    throw new Error(`one problem expected: ${JSON.stringify(configuration.problems, undefined, 2)}`);
  }
  return problem;
}
