import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Launch } from './gate.ts';
import { notSpawned } from './start-failures.ts';

/** One configured command. */
export interface ChildSpec {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Where it starts, if that is not its working folder. It then changes the folder itself. */
  readonly startIn?: string | undefined;
  /** Called when the process waits at its gate. Throws if it must not run. */
  readonly beforeRun?: (() => Promise<void>) | undefined;
}

/** Starts the command in its own session and process group, so that one signal reaches all processes in it. */
export async function spawnGroup(
  spec: ChildSpec,
  launch: Launch,
  env: Record<string, string>,
): Promise<ChildProcessWithoutNullStreams> {
  const leader = trySpawn(spec, launch, env);
  if (leader.pid === undefined) throw notSpawned(spec, await spawnError(leader));
  return leader;
}

function trySpawn(spec: ChildSpec, { file, args }: Launch, env: Record<string, string>) {
  try {
    return spawn(file, args, { cwd: spec.startIn ?? spec.cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    throw notSpawned(spec, error);
  }
}

function spawnError(leader: ChildProcessWithoutNullStreams): Promise<Error> {
  return new Promise((resolve) => leader.once('error', resolve));
}
