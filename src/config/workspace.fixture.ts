import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Fleet, FleetServer, Problem, ServerSpec } from '../domain/index.ts';
import { loadFleet } from './load-fleet.ts';

/** A directory of its own for one test, gone afterwards. */
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
): Promise<Fleet> {
  return loadFleet({ env }, { workspace: await createWorkspace(files) });
}

export function own(text: string, env?: Readonly<Record<string, string>>): Promise<Fleet> {
  return load({ 'quartermaster.yaml': text }, env);
}

export function client(content: unknown, env?: Readonly<Record<string, string>>): Promise<Fleet> {
  return load({ '.mcp.json': typeof content === 'string' ? content : JSON.stringify(content, undefined, 2) }, env);
}

export function ready(fleet: Fleet, name: string): ServerSpec {
  const server = fleet.servers.get(name);
  if (server?.kind !== 'ready') throw new Error(`${name} is not ready: ${JSON.stringify(server)}`);
  return server.spec;
}

export function invalid(fleet: Fleet, name: string): Extract<FleetServer, { kind: 'invalid' }> {
  const server = fleet.servers.get(name);
  if (server?.kind !== 'invalid') throw new Error(`${name} is not invalid`);
  return server;
}

/** The only problem there is, so that no test passes over a second one. */
export function onlyProblem(fleet: Fleet): Problem {
  const [problem, ...others] = fleet.problems;
  if (problem === undefined || others.length > 0) {
    throw new Error(`one problem expected: ${JSON.stringify(fleet.problems, undefined, 2)}`);
  }
  return problem;
}
