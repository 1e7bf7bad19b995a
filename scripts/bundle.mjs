import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { rollUpTypes } from './library-types.mjs';
import { root } from './root.mjs';

/**
 * The command line and the library as a few files that share their chunks: loading hundreds of small ones takes longer
 * than most commands run. What is only needed by some commands stays apart, as the code itself asks for it with
 * `import()`. Packages that are loaded late anyway stay packages.
 */
const late = [
  ...[/^undici($|\/)/, /^hono($|\/)/, /^@hono\//, /^@opentelemetry\//],
  ...[/^pg($|\/)/, /^pg-connection-string($|\/)/, /^libpg-query($|\/)/, /^htmlparser2($|\/)/],
  ...[/^jsonc-parser($|\/)/, /^toml-eslint-parser($|\/)/],
];
const folder = join(root, 'dist');
const licences = new Map();

const bundle = await rolldown({
  cwd: root,
  input: { 'qm/main': 'dist/faces/cli/main.js', 'library/index': 'dist/index.js' },
  platform: 'node',
  external: late,
  plugins: [{ name: 'licences', moduleParsed: ({ id }) => noteLicence(id) }],
});
await bundle.write({
  dir: folder,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  // Node keeps the text of every file it has loaded, and one character beyond Latin-1 doubles its bytes.
  charset: 'ascii',
  comments: { legal: true, annotation: true, jsdoc: false },
});
await bundle.close();
writeFileSync(join(folder, 'chunks', 'LICENCES.txt'), [...licences.values()].join('\n\n'));
writeFileSync(join(folder, 'library', 'index.d.ts'), rollUpTypes(join(folder, 'index.d.ts')));

/** Whoever passes a package on passes its licence on. */
function noteLicence(file) {
  const [, before, name] = /^(.*\/node_modules)\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  if (name === undefined || licences.has(name)) return;
  const home = join(before, name);
  const text = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry));
  if (text === undefined) throw new Error(`${name} comes without a licence text`);
  licences.set(name, `${name}\n\n${readFileSync(join(home, text), 'utf8').trim()}`);
}
