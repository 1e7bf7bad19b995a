import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './root.mjs';

/**
 * The command line as a few files: loading hundreds of small ones takes longer than most commands run. What is only
 * needed by some commands stays apart, as the code itself asks for it with `import()`. Packages that are loaded late
 * anyway stay packages.
 */
const late = [
  ...[/^undici($|\/)/, /^hono($|\/)/, /^@hono\//, /^@opentelemetry\//],
  ...[/^pg($|\/)/, /^pg-connection-string($|\/)/, /^libpg-query($|\/)/, /^htmlparser2($|\/)/],
  ...[/^jsonc-parser($|\/)/, /^toml-eslint-parser($|\/)/],
];
const folder = join(root, 'dist', 'qm');
const licences = new Map();

const bundle = await rolldown({
  cwd: root,
  input: { main: 'dist/faces/cli/main.js' },
  platform: 'node',
  external: late,
  plugins: [{ name: 'licences', moduleParsed: ({ id }) => noteLicence(id) }],
});
await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
await bundle.close();
writeFileSync(join(folder, 'LICENCES.txt'), [...licences.values()].join('\n\n'));

/** Whoever passes a package on passes its licence on. */
function noteLicence(file) {
  const [, before, name] = /^(.*\/node_modules)\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  if (name === undefined || licences.has(name)) return;
  const home = join(before, name);
  const text = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry));
  if (text === undefined) throw new Error(`${name} comes without a licence text`);
  licences.set(name, `${name}\n\n${readFileSync(join(home, text), 'utf8').trim()}`);
}
