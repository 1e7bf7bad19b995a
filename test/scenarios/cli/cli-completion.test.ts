import { spawnSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createSystemClock } from '../../../src/base/index.ts';
import { loadConfiguration } from '../../../src/config/index.ts';
import { completionScript } from '../../../src/faces/cli/completion/completion-scripts.ts';
import { createCatalogStore, ensureStateFolder } from '../../../src/storage/index.ts';
import { layoutOf, stateEnv } from '../../support/state-home.ts';
import { makeWorkspace, runQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const binFolder = resolve(import.meta.dirname, '..', '..', '..', 'bin');

const team = {
  servers: {
    files: { command: 'node', args: ['nothing'] },
    'git.hub': { command: 'node' },
    off: { command: 'x', enabled: false },
  },
  agents: { lead: { servers: ['files'] }, tester: { servers: ['files'] } },
};

/** Possible tool names. A shell must treat each as one word. */
const oddNames = [
  '$(touch x)',
  '`touch y`',
  'a b;touch z',
  "it's",
  'with"quote',
  'back\\slash',
  'a:b',
  'eq=al',
  '*',
  '~',
  '!!',
  '$HOME',
  '-dash',
  'größe',
  '&',
  '#',
];
/** Never suggested: they would break the line or the terminal. */
const brokenNames = ['tab\tname', 'new\nline', '\u001b[31mred', '\u202egnp'];

async function complete(workspace: string, ...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runHere(['__complete', '--', ...words], { cwd: workspace });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd().split('\n');
}

async function completed(workspace: string, ...words: string[]): Promise<string[]> {
  const [kind, ...lines] = await complete(workspace, ...words);
  expect(kind).toBe('words');
  return lines.map((line) => line.split('\t')[0] ?? '');
}

test('commands, options and their choices are completed', async () => {
  const workspace = await makeWorkspace(team);
  expect(await completed(workspace, 'ca')).toEqual(['call', 'calls']);
  expect(await completed(workspace, 'token', '')).toEqual(['issue', 'ls', 'revoke']);
  expect(await completed(workspace, 'calls', '--s')).toEqual(['--server', '--status', '--since', '--shadow']);
  expect(await completed(workspace, 'calls', '--status', '')).toEqual(['ok', 'error', 'open']);
  expect(await completed(workspace, 'calls', '--status=o')).toEqual(['--status=ok', '--status=open']);
  expect(await completed(workspace, 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await completed(workspace, 'connect', 'cl')).toEqual(['claude-code', 'claude-desktop']);
  expect(await completed(workspace, 'disconnect', 'z')).toEqual(['zed']);
  expect(await completed(workspace, 'connect', 'zed', '--scope=')).toEqual([
    '--scope=local',
    '--scope=project',
    '--scope=user',
  ]);
  expect(await completed(workspace, 'builtin', '')).toEqual(['git', 'fetch', 'pg-readonly']);
  expect(await completed(workspace, 'bootstrap', 'git', 'sl')).toEqual(['slack']);
  expect(await completed(workspace, 'add', 'x', '--preset=pg')).toEqual(['--preset=pg-readonly']);
  expect(await completed(workspace, 'calls', '--limit', '')).toEqual([]);
  expect(await completed(workspace, 'nothing', 'at', 'all', '')).toEqual([]);
  expect(await completed(workspace, '')).not.toContain('__complete');
  expect(await complete(workspace, 'ls', '--workspace', '')).toEqual(['folders']);
  expect(await complete(workspace, 'summarize', '--output=')).toEqual(['files']);
});

test('servers, agents, runs and tools are completed from files', async () => {
  const workspace = await makeWorkspace(team);
  await remember(workspace, 'files', ['read', 'write']);
  await mkdir(join(workspace, '.runs/agents/run-1'), { recursive: true });
  expect(await completed(workspace, 'calls', '--server', '')).toEqual(['files', 'git.hub', 'off']);
  expect(await completed(workspace, 'calls', '--server', 'g')).toEqual(['git.hub']);
  expect(await completed(workspace, 'call', 'files.read', '--agent', '')).toEqual(['lead', 'tester']);
  expect(await completed(workspace, 'explain', '--agent=l')).toEqual(['--agent=lead']);
  expect(await completed(workspace, 'calls', '--run', '')).toEqual(['run-1']);
  expect(await completed(workspace, 'call', '--agent', 'lead', 'files.')).toEqual(['files.read', 'files.write']);
  expect(await completed(workspace, 'explain', 'files.w')).toEqual(['files.write']);
  // From another folder, the workspace is named.
  const elsewhere = await makeWorkspace();
  expect(await completed(elsewhere, 'calls', '--server', '')).toEqual([]);
  expect(await completed(elsewhere, 'calls', '--workspace', workspace, '--server', 'f')).toEqual(['files']);
  expect(await completed(elsewhere, 'calls', `--workspace=${workspace}`, '--server', 'f')).toEqual(['files']);
  expect(await completed(elsewhere, 'calls', '--workspace', '/nowhere', '--server', '')).toEqual([]);
});

test('the program itself answers the completion scripts', async () => {
  const workspace = await makeWorkspace(team);
  const answer = await runQm(['__complete', '--', 'calls', '--server', 'f'], { cwd: workspace });
  expect(answer).toEqual({ code: 0, stdout: 'words\nfiles\t\n', stderr: '' });
  expect((await runQm(['--help'])).stdout).not.toContain('__complete');
});

test('with an unreadable configuration, completion returns nothing and prints no error', async () => {
  const workspace = await makeWorkspace('servers: [');
  expect(await completed(workspace, 'calls', '--server', '')).toEqual([]);
});

test('tools of a server that has since changed are not suggested', async () => {
  const workspace = await makeWorkspace(team);
  await remember(workspace, 'files', ['read'], 'another connection');
  expect(await completed(workspace, 'call', '')).toEqual([]);
});

test('in bash, tool names are completed as words and never executed', async () => {
  const workspace = await makeWorkspace(team);
  await remember(workspace, 'files', [...oddNames, ...brokenNames]);
  const before = await readdir(workspace);
  const replies = await inBash(workspace, ['qm', 'call', 'files.'], 'qm call files.');
  expect(replies).toHaveLength(oddNames.length);
  // The replies as they appear on the command line after TAB, parsed by bash like any command.
  const read = bash(workspace, `set -f; for word in ${replies.join(' ')}; do printf '%s\\n' "$word"; done`);
  expect(read.stdout.trimEnd().split('\n')).toEqual(oddNames.map((name) => `files.${name}`));
  // The same with globbing and history expansion, which quoting must prevent.
  for (const reply of replies) {
    const word = bash(workspace, `printf '%s\\n' ${reply}`).stdout.trimEnd();
    expect(oddNames.map((name) => `files.${name}`)).toContain(word);
  }
  expect(await readdir(workspace)).toEqual(before);
});

test('in bash, a quoted word is completed', async () => {
  const workspace = await makeWorkspace(team);
  await remember(workspace, 'files', [...oddNames, 'read']);
  const dollar = await inBash(workspace, ['qm', 'call', 'files.\\$\\('], 'qm call files.\\$\\(');
  expect(dollar).toEqual(['files.\\$\\(touch\\ x\\)']);
  // Inside quotes, only plain names are suggested.
  expect(await inBash(workspace, ['qm', 'call', '"files.'], 'qm call "files.')).toEqual(
    expect.arrayContaining(['files.read', 'files.a:b']),
  );
  expect(await inBash(workspace, ['qm', 'call', '"files.$'], 'qm call "files.$')).toEqual([]);
  expect(await inBash(workspace, ['qm', 'call', "'files.r"], "qm call 'files.r")).toEqual(['files.read']);
});

test('in bash, words split at = and : are joined again', async () => {
  const workspace = await makeWorkspace(team);
  await remember(workspace, 'files', oddNames);
  expect(await inBash(workspace, ['qm', 'calls', '--agent', '=', 'te'], 'qm calls --agent=te')).toEqual(['tester']);
  expect(await inBash(workspace, ['qm', 'calls', '--agent', '='], 'qm calls --agent=')).toEqual(['lead', 'tester']);
  expect(await inBash(workspace, ['qm', 'call', 'files.a', ':', ''], 'qm call files.a:')).toEqual(['b']);
  expect(await inBash(workspace, ['qm', 'call', 'files.eq', '=', 'a'], 'qm call files.eq=a')).toEqual(['al']);
  // A quoted folder name with a space.
  const folder = join(workspace, 'with blank');
  await mkdir(folder);
  await writeFile(join(folder, 'quartermaster.yaml'), JSON.stringify({ servers: { inner: { command: 'x' } } }));
  const line = 'qm calls --workspace "with blank" --server ';
  expect(await inBash(workspace, ['qm', 'calls', '--workspace', '"with blank"', '--server', ''], line)).toEqual([
    'inner',
  ]);
});

test.each([
  ['bash', /^complete -F _qm qm quartermaster$/m],
  ['zsh', /^#compdef qm quartermaster\n/],
  ['fish', /^complete -c qm -f -a '\(__qm_complete\)'$/m],
])('the script for %s is complete, and valid in that shell where it is installed', async (shell, expected) => {
  const { code, stdout, stderr } = await runQm(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(expected);
  // The script reads the replies and never evaluates them.
  expect(stdout).not.toMatch(/\beval\b|compgen|\bsource [^<]/);
  expect(unclosedIn(stdout)).toEqual([]);
  const check = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8', timeout: 20_000 });
  if (check.error === undefined) expect([check.status, check.stderr]).toEqual([0, '']);
  else console.log(`Not checked by ${shell} itself, which is not installed: the script of \`qm completion ${shell}\`.`);
});

test('an unknown shell is a usage error that lists the supported ones', async () => {
  const { code, stdout, stderr } = await runQm(['completion', 'tcsh']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/Use one of bash, zsh, fish\.\n$/);
});

/** What differs between the words that open blocks and those that close them; both grammars have no other blocks. */
function unclosedIn(script: string): string[] {
  const words: readonly string[] = script.replace(/^\s*#.*$/gm, '').match(/(?<![\w$-])[a-z]+(?![\w-])/g) ?? [];
  const count = (...wanted: string[]): number => words.filter((word) => wanted.includes(word)).length;
  const pairs = words.includes('end')
    ? [count('function', 'if', 'switch', 'for', 'while', 'begin') - count('end')]
    : [count('if') - count('fi'), count('case') - count('esac'), count('do') - count('done')];
  return pairs.filter((more) => more !== 0).map((more) => `${more} blocks are not closed`);
}

test('a script that lost its end is noticed without its shell', async () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionScript(shell);
    const cut = script.slice(0, Math.max(script.lastIndexOf('esac'), script.lastIndexOf('end')));
    expect(unclosedIn(cut), shell).not.toEqual([]);
  }
});

/** Stores tools in the catalog, like a hub that has discovered the server. */
async function remember(workspace: string, server: string, tools: readonly string[], key?: string): Promise<void> {
  const layout = layoutOf(workspace);
  await ensureStateFolder(layout);
  const entry = (await loadConfiguration({ env: {} }, { workspace })).servers.get(server);
  if (entry?.kind !== 'ready') throw new Error(`${server} is not ready`);
  const store = createCatalogStore(layout, { clock: createSystemClock() });
  store.save(server, {
    connectionKey: key ?? entry.spec.connectionKey,
    protocolVersion: '2025-11-25',
    era: 'legacy',
    verdictAt: 0,
    at: 0,
    tools: tools.map((name) => ({
      name,
      text: JSON.stringify({ name, inputSchema: { type: 'object' } }),
      fingerprint: 'f',
      safeToRepeat: false,
      hints: { readOnly: null, destructive: null },
      mirrored: [],
    })),
  });
  await store.flush();
}

/** The replies of bash after TAB at the end of `line`. `words` is the line as bash splits it. */
async function inBash(workspace: string, words: readonly string[], line: string): Promise<string[]> {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const { stdout } = bash(
    workspace,
    `${completionScript('bash')}
     COMP_WORDS=(${words.map(quoted).join(' ')}) COMP_CWORD=${words.length - 1}
     COMP_LINE=${quoted(line)} COMP_POINT=${line.length}
     _qm
     for reply in "\${COMPREPLY[@]}"; do printf '%s\\n' "$reply"; done`,
  );
  return stdout.split('\n').filter((reply) => reply !== '');
}

/** A shell with `qm` on its PATH. */
function bash(workspace: string, script: string): { stdout: string } {
  const { stdout, stderr, status } = spawnSync('bash', ['--noprofile', '--norc', '-c', script], {
    cwd: workspace,
    encoding: 'utf8',
    timeout: 25_000,
    env: { PATH: `${binFolder}:${process.env.PATH}`, HOME: workspace, LC_ALL: 'C.UTF-8', ...stateEnv },
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return { stdout };
}
