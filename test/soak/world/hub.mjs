import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { trustFolder } from '../../support/trust-folder.mjs';
import { within } from './within.mjs';

export const bin = fileURLToPath(new URL('../../../bin/qm', import.meta.url));
const execute = promisify(execFile);

/** `qm serve` as its users run it, and the other commands beside it. */
export function createHubProcess(workspace) {
  const env = { PATH: process.env.PATH, HOME: workspace.base, QM_STATE_DIR: workspace.stateFolder, NO_COLOR: '1' };
  trustFolder(join(workspace.base, '.config'), workspace.base);
  const log = createWriteStream(join(workspace.base, 'hub.log'));
  let child;
  let ended;

  return {
    env,
    get pid() {
      return child.pid;
    },
    /** Resolves when the process has ended. */
    get ended() {
      return ended;
    },
    async start() {
      const args = [bin, 'serve', '--json', '--port', '0', '--workspace', workspace.folder];
      child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child.stderr.pipe(log);
      ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
      const line = new Promise((resolve, reject) => {
        createInterface({ input: child.stdout }).once('line', resolve);
        void ended.then(({ code }) => reject(new Error(`qm serve ended with ${code}; see hub.log`)));
      });
      return JSON.parse(await within(line, 30_000, 'qm serve to come up')).url;
    },
    kill: (signal) => child?.kill(signal),
    /** Another command, with machine output; the text of stdout. */
    async qm(...args) {
      const { stdout } = await execute(process.execPath, [bin, ...args, '--json', '--workspace', workspace.folder], {
        env,
        timeout: 60_000,
        maxBuffer: 1024 * 1024 * 1024,
      });
      return stdout;
    },
  };
}
