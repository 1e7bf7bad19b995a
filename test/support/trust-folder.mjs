import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the settings of a user who trusts everything below a folder. Nobody answers questions in a test. */
export function trustFolder(configHome, folder) {
  mkdirSync(join(configHome, 'quartermaster'), { recursive: true });
  writeFileSync(join(configHome, 'quartermaster', 'config.yaml'), `trust: { paths: [${JSON.stringify(folder)}] }\n`);
}
