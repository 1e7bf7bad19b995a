import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import { HubError } from '../../base/index.ts';

interface Wanted {
  readonly server: string;
  readonly command: string;
  readonly cwd: string;
}

type Finding = 'runnable' | 'missing' | 'not-executable';

/** The full path of a server's command, resolved with the server's own environment. */
export async function findCommand(wanted: Wanted, searchPath: string): Promise<string> {
  await requireFolder(wanted);
  const { command, cwd } = wanted;
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : searchPath.split(delimiter).map((folder) => resolve(cwd, folder, command));
  let blocked: string | undefined;
  for (const candidate of command === '' ? [] : candidates) {
    const finding = await inspect(candidate);
    if (finding === 'runnable') return candidate;
    if (finding === 'not-executable') blocked ??= candidate;
  }
  if (blocked !== undefined) {
    const what = `its command "${blocked}" is not an executable file.`;
    throw unavailable(wanted, what, `Run chmod +x "${blocked}".`, 'command not executable');
  }
  throw command.includes('/')
    ? unavailable(
        wanted,
        `its command "${command}" does not exist.`,
        `Correct its command; it was looked for relative to ${cwd}.`,
        'command not found',
      )
    : unavailable(
        wanted,
        `its command "${command}" was not found on PATH.`,
        missingHint(command, searchPath),
        'command not found',
      );
}

async function requireFolder(wanted: Wanted): Promise<void> {
  const found = await stat(wanted.cwd).catch(() => undefined);
  if (found?.isDirectory()) return;
  const what = found === undefined ? 'does not exist' : 'is not a folder';
  const hint = 'Create it, or correct its cwd.';
  throw unavailable(wanted, `its working folder "${wanted.cwd}" ${what}.`, hint, `working folder ${what}`);
}

async function inspect(path: string): Promise<Finding> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return 'missing';
  if (!found.isFile()) return 'not-executable';
  return access(path, constants.X_OK).then(
    (): Finding => 'runnable',
    (): Finding => 'not-executable',
  );
}

function missingHint(command: string, searchPath: string): string {
  if (/\s/.test(command)) return 'Give the program alone as its command and the rest as its args.';
  const now = searchPath.length > longestPath ? `${searchPath.slice(0, longestPath)}…` : searchPath;
  return `${sources.get(command) ?? `Install ${command}`}, give its full path as its command, or add its folder to PATH (now ${now}).`;
}

const longestPath = 80;

/** How to install the programs that start most servers. */
const sources: ReadonlyMap<string, string> = new Map([
  ['uv', 'Install uv (docs.astral.sh/uv)'],
  ['uvx', 'Install uv (docs.astral.sh/uv), which brings uvx'],
  ['node', 'Install Node.js (nodejs.org)'],
  ['npx', 'Install Node.js (nodejs.org), which brings npx'],
  ['docker', 'Install Docker (docs.docker.com/get-docker) and start it'],
  ['python', 'Install Python 3 (python.org), write python3 where only that exists'],
  ['python3', 'Install Python 3 (python.org)'],
]);

function unavailable(wanted: Wanted, what: string, hint: string, reason: string): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${wanted.server}": ${what}`, {
    hint,
    details: { server: wanted.server, command: wanted.command, reason },
  });
}
