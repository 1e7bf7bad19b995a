// `npm run test:keychain`: the stored secrets with a real keychain, on a D-Bus and in a home of its own. `npm test` covers
// the rest without one.
import { spawnSync } from 'node:child_process';
import { build, runSteps, tests } from './steps.mjs';

/** @type {import('./steps.mjs').Step} */
const programs = {
  name: 'programs',
  run() {
    const missing = ['dbus-daemon', 'gnome-keyring-daemon'].filter(
      (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0,
    );
    if (missing.length === 0) return true;
    console.error(
      `Not tested: ${missing.join(' and ')} cannot be run. Install them: apt-get install gnome-keyring dbus`,
    );
    return false;
  },
};

process.env.KEYCHAIN = '1';
runSteps([programs, build, tests(['--project', 'keychain'])]);
