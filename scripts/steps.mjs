import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

/** @typedef {{ name: string, run: () => boolean, speaksForItself?: boolean }} Step */

/** @type {Step} */
export const build = {
  name: 'build',
  run() {
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    return (
      runTool('tsc', ['-p', 'tsconfig.build.json']) && run(process.execPath, [join(root, 'scripts', 'bundle.mjs')])
    );
  },
};

/** Format and lint. @type {Step} */
export const style = {
  name: 'format and lint',
  run: () => runTool('biome', ['check', '--error-on-warnings', '.']),
};

/** @type {Step} */
export const types = { name: 'types', run: () => runTool('tsc', ['-p', 'tsconfig.json']) };

/** @type {Step} */
export const unusedCode = { name: 'unused code', run: () => runTool('knip', ['--no-progress']) };

/**
 * Vitest, whose closing line has to stay the last one.
 * @param {readonly string[]} args
 * @returns {Step}
 */
export function tests(args) {
  return { name: 'tests', run: () => runTool('vitest', ['run', ...args]), speaksForItself: true };
}

/**
 * The programs that scenarios run against real ones; a package of its own, so that `npm ci` stays quick.
 * @type {Step}
 */
export const testPrograms = { name: 'test programs', run: () => install('programs') };

/**
 * The agents that `npm run test:agents` drives; 1.4 GB, so only that command installs them.
 * @type {Step}
 */
export const testAgents = { name: 'agents', run: () => install('agents') };

/**
 * Runs the steps in order up to the first that fails, and leaves the verdict in the exit code.
 * @param {readonly Step[]} steps
 */
export function runSteps(steps) {
  for (const step of steps) {
    console.log(`\n▸ ${step.name}`);
    if (step.run()) continue;
    if (!step.speaksForItself) console.error(`\nStopped: the step "${step.name}" failed.`);
    process.exitCode = 1;
    return;
  }
}

/** A package below test/, again only when its lock file changed. */
function install(name) {
  const folder = join(root, 'test', name);
  const lock = join(folder, 'package-lock.json');
  if (!existsSync(lock)) return true;
  const stamp = join(folder, 'node_modules', '.installed-lock');
  const wanted = createHash('sha256').update(readFileSync(lock)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  if (!run('npm', ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'])) return false;
  writeFileSync(stamp, wanted);
  return true;
}

/** A tool among our own development dependencies, wherever this was started from. */
function runTool(name, args) {
  return run(join(root, 'node_modules', '.bin', name), args);
}

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.error) console.error(`${command}: ${result.error.message}. Run \`npm ci\` first.`);
  return result.status === 0;
}
