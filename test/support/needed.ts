import { spawnSync } from 'node:child_process';

/** Programs of the system that examples on the pages use. A test that lacks one fails and says so. */
export type SystemProgram = 'jq' | 'curl';

export function need(program: SystemProgram): void {
  if (spawnSync(program, ['--version']).error === undefined) return;
  throw new Error(`${program} is not installed. Install it: apt-get install ${program}, or brew install ${program}.`);
}
