import { type ChildProcess, spawn } from 'node:child_process';

export interface GitRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Git is killed when its output exceeds this. */
  readonly maxBytes: number;
  /** On abort, git is killed and the promise rejects with the reason. */
  readonly signal: AbortSignal;
}

export interface GitOutput {
  /** Null if git was killed for too much output. */
  readonly code: number | null;
  readonly stdout: Buffer;
  /** There was more output. */
  readonly cut: boolean;
  /** Stderr, only for the log: git quotes what it could not read, which may lie outside the repository. */
  readonly said: string;
}

/** Enough for one message of git. */
const mostSaid = 2_000;

/** Runs git to its end. Processes it started are in its group and end with it. */
export function runGit(run: GitRun): Promise<GitOutput> {
  const { program, args, cwd, env, maxBytes, signal } = run;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    let size = 0;
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (size <= maxBytes) chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) end(child);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (said.length < mostSaid) said = (said + chunk.toString('utf8')).slice(0, mostSaid);
    });
    const giveUp = (): void => end(child);
    signal.addEventListener('abort', giveUp, { once: true });
    child.once('exit', () => killGroup(child));
    child.once('error', (error) => {
      signal.removeEventListener('abort', giveUp);
      reject(error);
    });
    child.once('close', (code) => {
      signal.removeEventListener('abort', giveUp);
      const stdout = Buffer.concat(chunks).subarray(0, maxBytes);
      if (signal.aborted) reject(signal.reason);
      else resolve({ code, stdout, cut: size > maxBytes, said });
    });
  });
}

function end(child: ChildProcess): void {
  killGroup(child);
  // Processes that left the group may still hold the other ends; do not wait for them.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** The group contains git and its child processes. It is separate because git was started detached. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}
