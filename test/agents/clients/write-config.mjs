import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export function writeJson(folder, path, value) {
  return writeText(folder, path, `${JSON.stringify(value, undefined, 2)}\n`);
}

export async function writeText(folder, path, text) {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}
