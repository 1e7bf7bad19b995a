import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PlainFile, readPlainFileSync } from '../plain-file.ts';
import { isJsonObject } from '../text/json.ts';

/** What `npx` or `npm exec` is asked to run. */
export interface NpmExec {
  /** The word that names the program, such as `@scope/server@1`. */
  readonly word: string;
  readonly packages: readonly string[];
}

/** Undefined if the arguments say more than which package to run: then nothing about them is assumed. */
export function readNpmExec(args: readonly string[]): NpmExec | undefined {
  const packages: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-') || arg === '--') {
      const word = arg === '--' ? args[index + 1] : arg;
      return word === undefined ? undefined : { word, packages: packages.length === 0 ? [word] : packages };
    }
    const [flag = '', ...rest] = arg.split('=');
    if (isPackageFlag(flag)) packages.push(rest.length > 0 ? rest.join('=') : (args[++index] ?? ''));
    else if (!plainFlags.has(flag)) return undefined;
  }
  return undefined;
}

function isPackageFlag(flag: string): boolean {
  return flag === '-p' || flag === '--package';
}

/** They take no value and change neither the folder nor the program. */
const plainFlags: ReadonlySet<string> = new Set([
  '-y',
  '--yes',
  '-q',
  '--quiet',
  '-s',
  '--silent',
  '--offline',
  '--prefer-offline',
  '--prefer-online',
  '--no-install',
  '--no',
  '--no-audit',
  '--no-fund',
  '--ignore-scripts',
]);

/** Where npm finds packages that it installed before, and settings that hold for every folder. */
export function npmSettingsIn(
  env: Readonly<Record<string, string>>,
  home: string | undefined = env.HOME,
): readonly string[] {
  const set = new Map(Object.entries(env).map(([name, value]) => [name.toLowerCase(), value]));
  const own = (name: string): string | undefined => (home === undefined ? undefined : join(env.HOME ?? home, name));
  const places = [
    set.get('npm_config_cache') ?? own('.npm'),
    set.get('npm_config_userconfig') ?? own('.npmrc'),
    set.get('npm_config_globalconfig'),
    // Not a place, and it can name any.
    set.get('npm_config_node_options') && '.',
  ];
  return places.flatMap((place) => (place === undefined || place === '' ? [] : [place]));
}

/**
 * Whether npm should use something of this folder or of one above it: an installed package, the folder's own package, or
 * the registry that its settings name. To ignore those could run a package of the same name that is somebody else's.
 */
export function npmUsesFolder({ word, packages }: NpmExec, folder: string, home: string | undefined): boolean {
  if (packages.some(isPath)) return true;
  const names = packages.map(packageName);
  for (const each of upwards(folder)) {
    const modules = join(each, 'node_modules');
    const isRead = each !== home && (each === folder || isProject(each));
    if (isRead && namesRegistry(join(each, '.npmrc'))) return true;
    if (names.some((name) => existsSync(join(modules, name)))) return true;
    if (existsSync(join(modules, '.bin', word))) return true;
    if (offersProgram(join(each, 'package.json'), word)) return true;
  }
  return false;
}

function isPath(text: string): boolean {
  return /^(?:[./~]|file:)/.test(text);
}

/** `@scope/name@1.2` → `@scope/name`. */
function packageName(text: string): string {
  const at = text.indexOf('@', 1);
  return at < 0 ? text : text.slice(0, at);
}

function isProject(folder: string): boolean {
  return existsSync(join(folder, 'package.json')) || existsSync(join(folder, 'node_modules'));
}

/** Settings that cannot be read may name one. */
function namesRegistry(file: string): boolean {
  const found = readPlainFileSync(file, maxManifestBytes);
  if (isNothing(found)) return false;
  return found.kind !== 'bytes' || /registry/i.test(found.bytes.toString('utf8'));
}

/** There is no such file, or npm cannot read what is there instead. */
function isNothing(found: PlainFile): boolean {
  return found.kind === 'absent' || (found.kind === 'failed' && found.errno === 'ENOTDIR');
}

const maxManifestBytes = 1024 * 1024;

/** A file that cannot be understood may offer anything. */
function offersProgram(file: string, word: string): boolean {
  const found = readPlainFileSync(file, maxManifestBytes);
  if (isNothing(found)) return false;
  try {
    if (found.kind !== 'bytes') return true;
    const manifest: unknown = JSON.parse(found.bytes.toString('utf8'));
    if (!isJsonObject(manifest) || manifest.bin === undefined) return false;
    const { name, bin } = manifest;
    if (isJsonObject(bin)) return Object.hasOwn(bin, word);
    return typeof name !== 'string' || name.slice(name.lastIndexOf('/') + 1) === word;
  } catch {
    return true;
  }
}

function* upwards(folder: string): Generator<string> {
  yield folder;
  for (let each = folder; dirname(each) !== each; ) {
    each = dirname(each);
    yield each;
  }
}
