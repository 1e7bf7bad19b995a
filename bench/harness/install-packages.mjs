import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));

/** The other gateways, as locked; does nothing when they are there already. */
export function installPackages() {
  const stamp = join(folder, 'node_modules', '.installed-lock');
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('Installing the other gateways (once) …\n');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', timeout: 300_000 });
  if (status !== 0) throw new Error(`npm ci in bench failed: ${stderr?.trim().slice(0, 300)}`);
  writeFileSync(stamp, wanted);
}
