import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { fixturePath } from './fixture-servers.ts';
import { trustFolder } from './trust-folder.mjs';

const root = resolve(import.meta.dirname, '..', '..');

/** The workspace in which the blocks of a scene run. */
export interface DocWorkspace {
  /** Contains the workspace and everything beside it. Removed after the test. */
  readonly base: string;
  readonly folder: string;
  /** Where commands start: the workspace, unless the page changes to it. */
  readonly start: string;
  readonly env: Readonly<Record<string, string>>;
  readonly before: readonly string[];
}

interface Kind {
  fill(folder: string): Promise<void>;
  /** Commands start beside the workspace. */
  readonly startsBeside?: true;
  /** Commands to run before the first block. */
  readonly before?: readonly string[];
}

const past = [
  'files.read_text_file path=welcome.md --agent tester',
  'files.read_text_file path=../../secret --agent lead',
  'memory.delete_entities --agent lead',
  'files.write_file path=x content=y --agent scribe --timeout 1s',
  'files.read_text_file path=todo.md --agent tester',
  'everything.get-sum a=1 b=2 --agent tester',
  'files.list_directory path=. --agent tester',
];

/** By the names that pages use. */
const kinds: Readonly<Record<string, Kind>> = {
  empty: { fill: async () => {} },
  /** A git repository with one commit. */
  repository: { fill: makeRepository },
  /** A copy of examples/team. */
  team: { fill: copyTeam },
  /** The same with a hub, a token for agent tester in $TOKEN, and a few calls in the run $RUN. */
  'team at work': { fill: copyTeam, before: atWork(1) },
  /** The same, but server files allows two calls a minute, and the run has made a third. */
  'team at its limit': { fill: copyLimitedTeam, before: atWork(3) },
  /** Some calls have been made, and not all of them succeeded. */
  'team with a past': { fill: copyTeam, before: past.map((call) => `qm call ${call} > /dev/null 2>&1 || true`) },
  /** Servers that fail in different ways. */
  troubles: { fill: writeTroubles },
  gone: { fill: writeGone },
  /** A git repository without servers. Commands start beside it. */
  'fresh repository': { fill: makeRepository, startsBeside: true },
  /** A repository with servers, before it uses a hub. Commands start beside it. */
  'your-repo': {
    startsBeside: true,
    fill: (folder) => writeServers(folder, { files: files('.'), github: tools('get_issue', ...githubWrites) }),
  },
};

export async function openWorkspace(kind: string): Promise<DocWorkspace> {
  const found = kinds[kind];
  if (found === undefined) throw new Error(`no workspace "${kind}"; there are ${Object.keys(kinds).join(', ')}`);
  const base = await realpath(await mkdtemp(join(tmpdir(), 'qm-doc-')));
  onTestFinished(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  // As deep as examples/team in this repository, whose servers are two folders up.
  const parent = join(base, 'me');
  const folder = join(parent, found.startsBeside === undefined ? 'team' : 'your-repo');
  await mkdir(join(base, 'bin'));
  await mkdir(folder, { recursive: true });
  await symlink(join(root, 'node_modules'), join(base, 'node_modules'));
  await writeShims(join(base, 'bin'));
  await found.fill(folder);
  trustFolder(join(base, '.config'), base);
  const env = {
    PATH: searchPath(join(base, 'bin')),
    HOME: base,
    NO_COLOR: '1',
    QM_KEYCHAIN: 'off',
    QM_FOREGROUND: '1',
  };
  return { base, folder, start: found.startsBeside === undefined ? folder : parent, env, before: found.before ?? [] };
}

async function makeRepository(folder: string): Promise<void> {
  const git = (...args: string[]): Promise<unknown> => promisify(execFile)('git', ['-C', folder, ...args]);
  await git('init', '--quiet');
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await git(...author, 'commit', '--quiet', '--allow-empty', '--message', 'The first commit');
}

/** The pages show the result without uvx. */
function searchPath(bin: string): string {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => !existsSync(join(folder, 'uvx')));
  return [bin, ...folders].join(':');
}

/** `qm` from the build, and offline versions of `npx` and `npm install` that use the packages installed here. */
async function writeShims(bin: string): Promise<void> {
  const npx = [
    'if [ "$1" = -y ]; then shift; fi',
    'name=$1; shift',
    `scope=; case "$name" in @*) scope=@; name=\${name#@};; esac`,
    `file="${root}/node_modules/$scope\${name%%@*}/dist/index.js"`,
    'if [ ! -f "$file" ]; then echo "npx: $name is not installed for the examples" >&2; exit 1; fi',
    `exec "${process.execPath}" "$file" "$@"`,
  ];
  await writeFile(join(bin, 'npx'), `#!/bin/sh\n${npx.join('\n')}\n`, { mode: 0o755 });
  const npm = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'npm'))) ?? '';
  const install = `[ "$1" = install ] && exec ln -s "${root}/node_modules" "$3/node_modules"`;
  await writeFile(join(bin, 'npm'), `#!/bin/sh\n${install}\nexec "${npm}/npm" "$@"\n`, { mode: 0o755 });
  await symlink(join(root, 'bin', 'qm'), join(bin, 'qm'));
}

async function copyTeam(folder: string): Promise<void> {
  const here = join(root, 'examples', 'team');
  for (const name of ['.mcp.json', 'quartermaster.yaml', 'files']) {
    await cp(join(here, name), join(folder, name), { recursive: true });
  }
}

async function copyLimitedTeam(folder: string): Promise<void> {
  await copyTeam(folder);
  const command = ['node', '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', 'files'];
  const servers = { files: { command, limits: { rate_per_min: 2 } } };
  await appendFile(join(folder, 'quartermaster.yaml'), `\nservers: ${JSON.stringify(servers)}\n`);
}

async function writeTroubles(folder: string): Promise<void> {
  const server = createServer((_request, response) => response.writeHead(401).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const lines = [
    '{',
    '  "mcpServers": {',
    '    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },',
    `    "github": { "type": "http", "url": "http://127.0.0.1:${port}/mcp" },`,
    '    "fetch": { "command": "uvx", "args": ["mcp-server-fetch"] },',
    `    "old": { "command": "node", "args": ["\${OLD_SERVER}"] }`,
    '  }',
    '}',
  ];
  await writeFile(join(folder, '.mcp.json'), `${lines.join('\n')}\n`);
}

/** Nothing listens on port 9, and the program does not exist. */
async function writeGone(folder: string): Promise<void> {
  const [url, events] = ['http://127.0.0.1:9/mcp', 'http://127.0.0.1:9/events'];
  const gone = { url, fallback: [{ type: 'sse', url: events }, { command: 'gone-mcp' }] };
  await writeFile(join(folder, 'quartermaster.yaml'), JSON.stringify({ servers: { gone } }));
}

async function writeServers(folder: string, mcpServers: object): Promise<void> {
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers }, undefined, 2));
}

const githubWrites = ['create_issue', 'create_pull_request', 'merge_pull_request'];

function atWork(calls: number): string[] {
  const ask = `node '${fixturePath('call-once.mjs')}' http://127.0.0.1:4680/mcp files_read_text_file`;
  return [
    'qm tools --agent lead',
    'qm serve',
    'export TOKEN=$(qm token issue --agent tester 2> /dev/null) RUN=nightly-42',
    ...Array<string>(calls).fill(`${ask} '{"path":"welcome.md"}'`),
  ];
}

function files(below: string): object {
  return { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', below] };
}

/** A server with tools of these names, in place of one that is not installed here. */
function tools(...names: string[]): object {
  return { command: process.execPath, args: [fixturePath('named-tools.mjs'), ...names] };
}
