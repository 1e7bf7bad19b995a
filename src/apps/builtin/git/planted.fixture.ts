import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workshop } from './git.fixture.ts';

/** Content outside the repository that no result may contain. */
export const secret = 'hunter2-outside-the-repository';

/** A trap in a repository, which git springs when a user runs it. */
export interface Plant {
  readonly name: string;
  /** Git commands that set it. `{trap}` is a program that leaves a mark, `{outside}` a folder beside the repository. */
  readonly lay: readonly (readonly string[])[];
  /** Files in the repository, such as attributes. */
  readonly files?: Readonly<Record<string, string>>;
  /** The git command that springs it, leaving the mark or printing the secret. */
  readonly springs: readonly string[];
}

const config = (key: string, value: string): readonly string[] => ['config', key, value];
const promisor = [config('remote.origin.promisor', 'true'), config('extensions.partialClone', 'origin')];
const attributes = (text: string): Readonly<Record<string, string>> => ({
  '.git/info/attributes': `${text}\n`,
  'a.txt': 'changed\n',
});

export const plants: readonly Plant[] = [
  {
    // First, because setting it would spring the others.
    name: 'submodule',
    lay: [
      ['submodule', '--quiet', 'add', '{outside}/module', 'sub'],
      ['-C', 'sub', 'config', 'core.fsmonitor', '{trap}'],
    ],
    springs: ['status'],
  },
  { name: 'hook', lay: [], files: { '.git/hooks/post-index-change': '{script}' }, springs: ['status'] },
  { name: 'hooks elsewhere', lay: [config('core.hooksPath', '{outside}/hooks')], springs: ['status'] },
  { name: 'fsmonitor', lay: [config('core.fsmonitor', '{trap}')], springs: ['status'] },
  { name: 'included configuration', lay: [config('include.path', '{outside}/config')], springs: ['status'] },
  {
    name: 'configuration included for a folder',
    lay: [config('includeIf.gitdir:/**.path', '{outside}/config')],
    springs: ['status'],
  },
  {
    name: 'configuration of the work tree',
    lay: [config('extensions.worktreeConfig', 'true'), ['config', '--worktree', 'core.fsmonitor', '{trap}']],
    springs: ['status'],
  },
  {
    name: 'clean filter',
    lay: [config('filter.x.clean', '{trap}')],
    files: attributes('* filter=x'),
    springs: ['diff'],
  },
  {
    name: 'filter process',
    lay: [config('filter.x.process', '{trap}')],
    files: attributes('* filter=x'),
    springs: ['diff'],
  },
  { name: 'diff driver', lay: [config('diff.x.command', '{trap}')], files: attributes('* diff=x'), springs: ['diff'] },
  { name: 'external diff', lay: [config('diff.external', '{trap}')], files: attributes(''), springs: ['diff'] },
  {
    name: 'text conversion',
    lay: [config('diff.x.textconv', '{trap}')],
    files: attributes('* diff=x'),
    springs: ['show', 'HEAD~2'],
  },
  {
    name: 'text conversion in blame',
    lay: [config('diff.x.textconv', '{trap}')],
    files: attributes('* diff=x'),
    springs: ['blame', 'a.txt'],
  },
  {
    name: 'signature check',
    lay: [config('log.showSignature', 'true'), config('gpg.program', '{trap}')],
    springs: ['log'],
  },
  {
    name: 'fetch of what is missing, by a program',
    lay: [...promisor, config('remote.origin.url', 'ext::{trap}'), config('protocol.ext.allow', 'always')],
    springs: ['cat-file', '-p', 'missing'],
  },
  {
    name: 'fetch of what is missing, from a folder',
    lay: [...promisor, config('remote.origin.url', '{outside}'), config('remote.origin.uploadpack', '{trap}')],
    springs: ['cat-file', '-p', 'missing'],
  },
  {
    name: 'fetch of what is missing, over ssh',
    lay: [...promisor, config('remote.origin.url', 'ssh://localhost/x'), config('core.sshCommand', '{trap}')],
    springs: ['cat-file', '-p', 'missing'],
  },
  { name: 'names from elsewhere', lay: [config('mailmap.file', '{outside}/mailmap')], springs: ['log'] },
  {
    name: 'work tree elsewhere',
    lay: [config('core.worktree', '{outside}/tree')],
    springs: ['diff'],
  },
];

export interface PlantedRepository {
  readonly root: string;
  readonly mark: string;
  /** Runs git as a user does and returns whether a trap was sprung. */
  springs(plant: Plant): boolean;
}

/** A repository with these traps, and their targets beside it. */
export function plant(workshop: Workshop, name: string, chosen: readonly Plant[]): PlantedRepository {
  const root = workshop.repository(name);
  const outside = join(workshop.dir, `${name}-outside`);
  const mark = join(outside, 'mark');
  const trap = join(outside, 'trap');
  const script = `#!/bin/sh\ntouch ${mark}\n`;
  const fill = (text: string): string =>
    text.replaceAll('{outside}', outside).replaceAll('{trap}', trap).replaceAll('{script}', script);
  for (const folder of ['hooks', 'tree']) mkdirSync(join(outside, folder), { recursive: true });
  for (const file of ['trap', 'hooks/post-index-change']) write(join(outside, file), script);
  write(join(outside, 'config'), `[core]\n\tfsmonitor = ${trap}\n`);
  write(join(outside, 'mailmap'), `${secret} <ada@example.com>\n`);
  write(join(outside, 'tree/a.txt'), `${secret}\n`);
  write(join(outside, 'secret.txt'), `${secret}\n`);
  workshop.repository(`${name}-outside/module`);
  symlinkSync(outside, join(root, 'link-to-folder'));
  symlinkSync(join(outside, 'secret.txt'), join(root, 'link-to-file'));
  workshop.git(name, 'add', '.');
  workshop.git(name, 'commit', '--quiet', '-m', 'Links that lead out');
  signCommit(workshop, name);
  for (const { lay, files = {} } of chosen) {
    for (const args of lay) workshop.git(name, ...args.map(fill));
    for (const [path, text] of Object.entries(files)) write(join(root, path), fill(text));
  }
  // Older than the index, so that git examines it again.
  execFileSync('touch', ['-d', '2020-01-01', join(root, 'src/b.txt')]);
  rmSync(mark, { force: true });
  return {
    root,
    mark,
    springs({ springs }) {
      const said = attempt(() => workshop.git(name, ...springs.map((word) => (word === 'missing' ? missing : word))));
      const sprung = existsSync(mark) || said.includes(secret);
      rmSync(mark, { force: true });
      return sprung;
    },
  };
}

/** An object that no repository has. */
const missing = '1234567890123456789012345678901234567890';

/** Adds a commit that claims to be signed. */
function signCommit(workshop: Workshop, name: string): void {
  const [tree, parent] = workshop.git(name, 'rev-parse', 'HEAD^{tree}', 'HEAD').split('\n');
  const who = 'Ada <ada@example.com> 1767319445 +0100';
  const signature = ' -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----';
  const headers = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\ngpgsig${signature}\n`;
  const file = join(workshop.dir, name, '.git', 'signed-commit');
  write(file, `${headers}\nSigned\n`);
  workshop.git(name, 'update-ref', 'HEAD', workshop.git(name, 'hash-object', '-t', 'commit', '-w', file));
}

function write(path: string, text: string): void {
  writeFileSync(path, text);
  if (text.startsWith('#!')) chmodSync(path, 0o755);
}

/** A sprung trap usually makes git fail. */
function attempt(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return String(error);
  }
}
