import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

export const root = resolve(import.meta.dirname, '..', '..', '..');

const packSchema = z.tuple([
  z.object({
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string(), mode: z.number() })),
  }),
]);

export interface Packed {
  /** A copy of the repository in which it was packed. */
  readonly source: string;
  readonly tarball: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** A folder that the caller removes. */
export async function temporaryFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'qm-package-')));
}

/** Packs a copy of the repository: packing builds, and other tests use the build of this one meanwhile. */
export async function pack(folder: string): Promise<Packed> {
  const source = join(folder, 'source');
  await copySource(source);
  await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], source);
  // The build writes to the same stream before.
  const [{ filename, ...about }] = packSchema.parse(JSON.parse(stdout.slice(stdout.indexOf('[\n'))));
  return { source, tarball: join(folder, filename), ...about };
}

/** Everything that is not installed, built or for git alone. */
export async function copySource(target: string): Promise<void> {
  const left = ['.git', 'node_modules', 'dist', 'coverage', '.runs'];
  await cp(root, target, { recursive: true, filter: (path) => !left.includes(basename(path)) });
}

/** An empty project with the package installed in it, as npm does it. */
export async function install(folder: string, tarball: string): Promise<string> {
  const project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], project);
  return project;
}

/** As a person at a shell would; a failure says what the program printed. */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ stdout: string; stderr: string }> {
  try {
    return await promisify(execFile)(program, args, { cwd, env: { ...ownEnv(), ...env }, timeout: 150_000 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }; // as execFile rejects
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Without what `npm test` tells its own scripts about this package. */
function ownEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?!config_(cache|registry|userconfig)$)/i.test(name) && name !== 'INIT_CWD',
    ),
  );
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
