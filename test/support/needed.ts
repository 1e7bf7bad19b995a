import { spawnSync } from 'node:child_process';

/** System programs that examples on the pages use. A test without one fails with a clear message. */
export type SystemProgram = 'jq' | 'curl';

export function need(program: SystemProgram): void {
  if (spawnSync(program, ['--version']).error === undefined) return;
  throw new Error(`${program} is not installed. Install it: apt-get install ${program}, or brew install ${program}.`);
}
