// `npm run docs:demo`: runs a session on a copy of the example team in a pseudo-terminal and draws docs/images/demo.svg
// from its output, in which only the temporary folder is replaced, by /home/me. It needs python3, for the
// pseudo-terminal, and port 4680.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { animatedSvg, typingTime } from './demo/animated-svg.mjs';
import { startInTerminal } from './demo/pseudo-terminal.mjs';
import { screenOf } from './demo/terminal-screen.mjs';
import { root } from './root.mjs';

const [columns, rows] = [100, 30];
const title =
  'A session: approve the servers of a repository, serve them, see the tools of an agent, a denied call, and the audit log';

/**
 * Each entry is one screen, which stays so many seconds when all of it is there. `keys` answers a prompt; a program
 * that goes on is left alone when it has said `until`.
 */
const session = [
  { stay: 2.4, commands: [{ typed: 'ls -A' }, { typed: 'qm trust', prompt: 'not now ', keys: 'y\r' }] },
  { stay: 2, commands: [{ typed: 'qm serve', until: 'Ctrl-C stops' }] },
  { stay: 2.4, commands: [{ typed: 'qm tools --agent tester' }] },
  {
    stay: 5,
    commands: [
      { typed: 'qm call files.read_text_file path=welcome.md --agent tester' },
      { typed: 'qm call files.write_file path=welcome.md content=hi --agent tester' },
      { typed: 'qm explain files.write_file --agent tester' },
      { typed: 'qm calls' },
    ],
  },
];

const rules = `agents:
  lead: { servers: [files, memory] }
  tester:
    servers: [files]
    tools:
      files: { include: [read_text_file, list_directory, search_files] }
policies:
  tools:
    memory.delete_*: deny
`;

await record();

async function record() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'qm-demo-')));
  const running = [];
  try {
    const terminal = prepare(base);
    const scenes = [];
    for (const scene of session) scenes.push(await playScene(scene, terminal, running));
    const file = join(root, 'docs', 'images', 'demo.svg');
    writeFileSync(file, animatedSvg(scenes, { columns, rows, title }));
    const seconds = scenes.reduce((sum, scene) => sum + scene.seconds, 0);
    console.log(`Wrote ${file}, which plays for ${Math.round(seconds)} seconds.`);
  } finally {
    for (const program of running) await program.stop();
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A part of the example that fits on one screen, as deep as in this repository, since its servers are two folders up. */
function prepare(base) {
  const [home, bin] = [join(base, 'me'), join(base, 'bin')];
  const cwd = join(home, 'team');
  mkdirSync(bin, { recursive: true });
  symlinkSync(join(root, 'bin', 'qm'), join(bin, 'qm'));
  symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'));
  cpSync(join(root, 'examples', 'team', 'files'), join(cwd, 'files'), { recursive: true });
  const { mcpServers } = JSON.parse(readFileSync(join(root, 'examples', 'team', '.mcp.json'), 'utf8'));
  const { files, memory } = mcpServers;
  writeFileSync(join(cwd, '.mcp.json'), `${JSON.stringify({ mcpServers: { files, memory } }, undefined, 2)}\n`);
  writeFileSync(join(cwd, 'quartermaster.yaml'), rules);
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    TERM: 'xterm-256color',
    QM_STATE_DIR: join(base, 'state'),
    XDG_CONFIG_HOME: join(base, 'config'),
    QM_KEYCHAIN: 'off',
  };
  return { cwd, env, columns, rows, shown: (text) => text.replaceAll(home, '/home/me') };
}

/** @returns {Promise<import('./demo/animated-svg.mjs').Scene>} */
async function playScene({ stay, commands }, terminal, running) {
  const shots = [];
  let [at, row] = [0.3, 0];
  for (const { typed, prompt, keys, until } of commands) {
    const program = startInTerminal(typed, terminal);
    if (prompt !== undefined) {
      await program.said(prompt);
      program.type(keys);
    }
    if (until === undefined) await program.ended;
    else {
      running.push(program);
      await program.said(until);
    }
    const lines = screenOf(terminal.shown(program.output()).trimEnd(), columns);
    shots.push({ at, row, typed });
    at += typingTime(typed);
    shots.push({ at, row: row + 1, lines });
    [at, row] = [at + 0.6, row + lines.length + 2];
    if (row - 1 > rows) throw new Error(`${typed}: the screen has only ${rows} rows`);
  }
  return { seconds: at + stay, shots };
}
