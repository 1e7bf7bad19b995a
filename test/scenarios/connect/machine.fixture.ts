import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { trustFolder } from '../../support/trust-folder.mjs';
import type { QmResult } from '../qm.fixture.ts';
import { type RunHereOptions, runHere } from '../run-here.fixture.ts';

/** A home folder and a workspace on the real disk, and commands in them. */
export interface Machine {
  readonly home: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path of a file: `~/x` in the home folder, else in the workspace. */
  path(file: string): string;
  put(file: string, text: string | object): Promise<void>;
  read(file: string): string;
  qm(...args: string[]): Promise<QmResult>;
  /** Connects without questions, servers or waiting. */
  connect(client: string, ...args: string[]): Promise<QmResult>;
  /** Disconnects without a question. */
  disconnect(client: string, ...args: string[]): Promise<QmResult>;
  /** Every file and its content, except the state of the hub. */
  snapshot(): Readonly<Record<string, string>>;
}

export interface MachineOptions {
  readonly git?: boolean;
  /** False: nothing is trusted without a question. */
  readonly trusted?: boolean;
  /** The folder of the workspace. */
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const agent = 'tester';

/** A server that starts at once. */
export const echo = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] };

export async function makeMachine(options: MachineOptions = {}): Promise<Machine> {
  const { git = false, trusted = true, name = 'team' } = options;
  const place = await realpath(await mkdtemp(join(tmpdir(), 'qm-connect-')));
  onTestFinished(() => rm(place, { recursive: true, force: true, maxRetries: 3 }));
  const [home, workspace] = [join(place, 'home'), join(place, name)];
  await Promise.all([mkdir(home), mkdir(workspace)]);
  if (git) execFileSync('git', ['init', '-q', workspace]);
  const config = join(home, '.config');
  trustFolder(config, trusted ? place : '/nowhere');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: config,
    QM_STATE_DIR: join(place, 'state'),
    ...options.env,
  };
  const path = (file: string): string => (file.startsWith('~/') ? join(home, file.slice(2)) : join(workspace, file));
  const qm = (...args: string[]): Promise<QmResult> => runHere(args, { cwd: workspace, env } satisfies RunHereOptions);
  return {
    home,
    workspace,
    env,
    path,
    async put(file, text) {
      await mkdir(dirname(path(file)), { recursive: true });
      await writeFile(path(file), typeof text === 'string' ? text : `${JSON.stringify(text, undefined, 2)}\n`);
    },
    read: (file) => readFileSync(path(file), 'utf8'),
    qm,
    connect: (client, ...args) => qm('connect', client, '--agent', agent, '--yes', '--no-start', '--no-wait', ...args),
    disconnect: (client, ...args) => qm('disconnect', client, '--yes', ...args),
    snapshot: () => Object.fromEntries(filesBelow(place)),
  };
}

function filesBelow(top: string): [string, string][] {
  const names = readdirSync(top, { recursive: true, withFileTypes: true });
  return (
    names
      .map((entry) => join(entry.parentPath, entry.name))
      // A running hub makes and removes files in its state meanwhile.
      .filter((file) => !/\/\.(?:git|runs)\//.test(file) && !relative(top, file).startsWith('state/'))
      .filter((file) => lstatSync(file, { throwIfNoEntry: false })?.isFile() === true)
      .map((file): [string, string] => [relative(top, file), readFileSync(file, 'latin1')])
      .sort()
  );
}
