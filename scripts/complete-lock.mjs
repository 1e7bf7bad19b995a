// Adds optional packages for other platforms that npm could not fetch when it wrote a lock file; without them
// `npm ci` refuses the lock. Run after `npm install`: node scripts/complete-lock.mjs package-lock.json …
import { readFileSync, writeFileSync } from 'node:fs';

for (const file of process.argv.slice(2)) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = complete(lock.packages);
  if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${file}: ${added.length} added`);
}

function complete(packages) {
  const added = [];
  for (const [place, entry] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isLocked(packages, place, name, range)) continue;
      const beside = `${folderOf(place)}node_modules/${name}`;
      const key = packages[beside] ? `${place}/node_modules/${name}` : beside;
      packages[key] = describe(name, range, entry.dev === true);
      added.push(key);
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [place, entry] of sorted) {
    delete packages[place];
    packages[place] = entry;
  }
  return added;
}

/** Looks where Node would look: in the package's own folder, then in each one around it; the first one counts. */
function isLocked(packages, place, name, range) {
  for (let folder = place === '' ? '' : `${place}/`; ; folder = folderOf(folder.slice(0, -1))) {
    const found = packages[`${folder}node_modules/${name}`];
    // Platform packages are asked for by exact version; of a range, any version will do here.
    if (found) return found.version === versionIn(range) || /^[~^*]/.test(range);
    if (folder === '') return false;
  }
}

/** An alias names another package and its version: `npm:NAME@VERSION`. */
function versionIn(range) {
  return range.replace(/^npm:.+@/, '').replace(/^[~^]/, '');
}

/** The folder whose node_modules holds this package: '' or a path with a slash at its end. */
function folderOf(place) {
  return place.slice(0, Math.max(0, place.lastIndexOf('node_modules/')));
}

/** The platform is in the name by custom; npm needs it here to know what to leave out. */
function describe(name, range, dev) {
  const words = name.split(/[/-]/);
  const pick = (known) => words.filter((word) => known.includes(word));
  const os = pick([
    'aix',
    'android',
    'darwin',
    'freebsd',
    'linux',
    'netbsd',
    'openbsd',
    'openharmony',
    'sunos',
    'win32',
  ]);
  const cpu = pick(['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']);
  if (name === 'fsevents') os.push('darwin');
  if (words.includes('windows')) os.push('win32');
  if (os.length === 0 && cpu.length === 0) throw new Error(`${name}: no platform in its name; add it by hand`);
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : [];
  const alias = /^npm:(.+)@/.exec(range)?.[1];
  return {
    ...(alias !== undefined && { name: alias }),
    version: versionIn(range),
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}
