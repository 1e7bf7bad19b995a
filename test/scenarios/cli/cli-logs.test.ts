// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { errorSchema, logLineSchema, lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type QmResult, runQm, serveQm, startQm } from '../qm.fixture.ts';

const echo = `exec ${process.execPath} ${fixturePath('echo-stdio.mjs')}`;
const pem =
  '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END KEY-----';
const values = { KEY: 'correct-horse-battery', PEM: pem };

/** Each has a stderr of another kind, or none. */
const servers = {
  noisy: {
    command: 'sh',
    args: ['-c', `echo "token $KEY" >&2; printf '%s\\n' "$PEM" >&2; printf 'a\\033[2Jb\\n' >&2; ${echo}`],
    env: { KEY: '${KEY}', PEM: '${PEM}' },
  },
  quiet: { command: 'sh', args: ['-c', echo] },
  dead: { command: 'sh', args: ['-c', 'echo "boom: no database" >&2; exit 3'] },
  missing: { command: 'no-such-program' },
  remote: { url: 'http://127.0.0.1:9/mcp' },
  history: { builtin: 'git' },
};

const qmIn = (workspace: string, ...args: string[]): Promise<QmResult> => runQm([...args, '--workspace', workspace]);

async function serve(): Promise<{ workspace: string; stop: () => Promise<unknown> }> {
  const workspace = await makeWorkspace({ servers });
  const hub = await serveQm(workspace, { env: values });
  await eventually(async () => {
    const { stdout } = await qmIn(workspace, 'ls', '--json');
    const states = new Map(lsSchema.parse(JSON.parse(stdout)).servers.map((each) => [each.name, each]));
    const isTried = ['dead', 'missing'].every((name) => states.get(name)?.error !== undefined);
    return (isTried && ['noisy', 'quiet'].every((name) => states.get(name)?.tools !== undefined)) || undefined;
  }, 'the servers to be tried');
  return {
    workspace,
    stop: () => {
      hub.signal('SIGTERM');
      return hub.ended();
    },
  };
}

test(
  verifies('cli:logs', 'the stderr of a server is shown without secrets and with control characters escaped'),
  async () => {
    const { workspace, stop } = await serve();
    const shown = await qmIn(workspace, 'logs', 'noisy');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^token \[redacted\]\n(?:\[redacted\]\n){4}a␛\[2Jb\n/);
    for (const secret of [values.KEY, ...pem.split('\n').slice(1, 3)]) expect(shown.stdout).not.toContain(secret);
    const last = await qmIn(workspace, 'logs', 'noisy', '--lines', '1', '--json');
    const line = logLineSchema.parse(JSON.parse(last.stdout));
    expect(line).toMatchObject({ server: 'noisy', line: 'a\u001b[2Jb' });
    expect(last.stdout).not.toContain('\u001b');

    const dead = await qmIn(workspace, 'logs', 'dead');
    expect(dead).toMatchObject({ code: 0, stdout: 'boom: no database\n' });
    const missing = await qmIn(workspace, 'logs', 'missing');
    expect(missing).toMatchObject({ code: 0, stdout: '' });
    expect(missing.stderr).toMatch(/wrote nothing to stderr\. .*"no-such-program" was not found.*`qm doctor missing`/);
    const quiet = await qmIn(workspace, 'logs', 'quiet');
    expect(quiet).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Server quiet wrote nothing to stderr since the hub started.\n',
    });
    await stop();
  },
);

test(verifies('cli:logs', 'of a server that fails again and again, the last process is shown'), async () => {
  const dead = { command: 'sh', args: ['-c', 'printf "try %s\\nno database\\n" $$ >&2; exit 3'] };
  const workspace = await makeWorkspace({ servers: { dead } });
  const hub = await serveQm(workspace);
  const all = await eventually(async () => {
    const { stdout } = await qmIn(workspace, 'logs', 'dead', '--all');
    return stdout.split('\n').length > 4 ? stdout : undefined;
  }, 'the second attempt');
  expect(all).toMatch(/^(?:try \d+\nno database\n){2,}$/);
  const last = await qmIn(workspace, 'logs', 'dead');
  expect(last.stdout).toMatch(/^try \d+\nno database\n$/);
  expect(last.stderr).toMatch(/^… \d+ lines of earlier processes: `qm logs dead --all` …\n$/);
  expect((await qmIn(workspace, 'logs', 'dead', '--json')).stderr).toBe('');
  hub.signal('SIGTERM');
  await hub.ended();
});

test(verifies('cli:logs', '--follow prints lines as they come, until Ctrl-C or the end of the hub'), async () => {
  const workspace = await makeWorkspace({
    servers: { x: { command: 'sh', args: ['-c', `echo "started $KEY" >&2; ${echo}`], env: { KEY: '${KEY}' } } },
  });
  const hub = await serveQm(workspace, { env: values });
  const args = ['logs', 'x', '--follow', '--workspace', workspace];
  const [follower, other] = [startQm(args), startQm([...args, '--json'])];
  expect(await follower.line()).toBe('started [redacted]');
  expect(logLineSchema.parse(JSON.parse(await other.line())).line).toBe('started [redacted]');
  // The hub starts the server again.
  const [first = ''] = (await qmIn(workspace, 'logs', 'x', '--json')).stdout.split('\n');
  const { pid } = logLineSchema.parse(JSON.parse(first));
  process.kill(-pid, 'SIGKILL');
  expect(await follower.line()).toBe('started [redacted]');
  follower.signal('SIGINT');
  expect(await follower.ended()).toMatchObject({ code: 130, stderr: '' });
  hub.signal('SIGTERM');
  await hub.ended();
  const { code, stderr } = await other.ended();
  expect(code).toBe(1);
  expect(errorSchema.parse(JSON.parse(stderr)).error).toMatchObject({ code: 'HUB_LOST' });
});

test(verifies('cli:logs', 'without a hub, or without a stderr, it says what to do instead'), async () => {
  const workspace = await makeWorkspace({ servers });
  const cases: readonly [args: string[], code: number, said: RegExp][] = [
    [['logs', 'noisy'], 1, /^qm: No hub runs in this workspace.*`qm doctor noisy`.*`qm serve`/],
    [['logs', 'remote'], 2, /reached over HTTP.*`qm doctor remote`.*`qm calls --server remote --status error`/],
    [['logs', 'history'], 2, /built in/],
    [['logs', 'nosiy'], 2, /Did you mean noisy\?/],
    [['logs', 'noisy', '--lines', 'all'], 2, /is not a number of lines\. Write --lines 100\./],
  ];
  for (const [args, code, said] of cases) {
    const result = await runQm([...args, '--workspace', workspace], { env: values });
    expect(result.stderr, args.join(' ')).toMatch(said);
    expect(result.code, args.join(' ')).toBe(code);
  }
});
