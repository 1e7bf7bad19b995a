import { mkdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause } from '../../support/within.ts';
import { type Kind, kinds, lines, named, yaml } from './config-retained.fixture.ts';

type Damage = (stage: Stage, file: string) => Promise<void>;

const damages: Readonly<Record<string, Damage>> = {
  'is renamed': (stage, file) => rename(stage.path(file), stage.path(`${file}.away`)),
  'is emptied': (stage, file) => writeFile(stage.path(file), ''),
  'is only blanks': (stage, file) => writeFile(stage.path(file), ' \n\n'),
  'is a folder': async (stage, file) => {
    await rm(stage.path(file));
    await mkdir(stage.path(file));
  },
  'is a link to nothing': async (stage, file) => {
    await rm(stage.path(file));
    await symlink(stage.path('nowhere'), stage.path(file));
  },
  'is nonsense': (stage, file) => writeFile(stage.path(file), '{ "a": [\nA="'),
  'is no UTF-8': (stage, file) => writeFile(stage.path(file), Buffer.from([0x7b, 0xff, 0xfe, 0x0a])),
  'is huge': (stage, file) => writeFile(stage.path(file), '#'.repeat(5 * 1024 * 1024 + 1)),
  'goes with its folder': async (stage, file) => {
    if (dirname(file) === '.') return rename(stage.path(file), stage.path(`${file}.away`));
    await rename(stage.path(dirname(file)), stage.path('away'));
  },
};

async function put(stage: Stage, file: string, text: string): Promise<void> {
  await rm(stage.path(file), { recursive: true, force: true });
  await mkdir(dirname(stage.path(file)), { recursive: true });
  await writeFile(stage.path(file), text);
}

/** Lists and calls as the agent, over and over; everything that it should not have seen or run is kept. */
function watchAgent(stage: Stage): { readonly rounds: () => number; readonly stop: () => Promise<readonly string[]> } {
  const seen = new Set<string>();
  let rounds = 0;
  let going = true;
  const loop = (async () => {
    while (going) {
      for (const name of await stage.names()) if (name !== 'up_look') seen.add(`lists ${name}`);
      for (const tool of ['up_write', 'up_drop', 'secret_look', 'secret_write']) {
        const result = await stage.call(tool);
        if (result.kind === 'result') seen.add(`runs ${tool}`);
      }
      rounds += 1;
      await pause(1);
    }
  })();
  const stop = async (): Promise<readonly string[]> => {
    going = false;
    await loop;
    return [...seen];
  };
  onTestFinished(() => {
    going = false;
  });
  return { rounds: () => rounds, stop };
}

async function open(kind: Kind): Promise<Stage> {
  const stage = await openStage();
  for (const [file, text] of Object.entries({ ...kind.rest, [kind.file]: kind.text })) await put(stage, file, text);
  await stage.start(await readFile(stage.path(yaml), 'utf8').catch(() => 'version: 1\n'), { watch: true });
  expect(await stage.names()).toEqual(['up_look']);
  return stage;
}

const isLogged = (stage: Stage, from: number, what: RegExp): boolean =>
  stage.log.slice(from).some((line) => what.test(line));

/** Until the hub has looked at the files as they are now. */
function noticed(stage: Stage, from: number, what: RegExp): Promise<true> {
  return eventually(() => isLogged(stage, from, what) || undefined, `${what} in the log`);
}

/** The watch waits so long for the next change before the hub looks at the files. */
const quietMs = 100;

/**
 * With the clock held: lets the hub look at the files, as often as the watch reports a change, until this is true. The
 * watch may have reported the change together with the one before, so that nothing comes: then a look is asked for.
 */
async function untilLooked(stage: Stage, isDone: () => boolean, what: string): Promise<void> {
  let looks = 0;
  let idle = 0;
  await eventually(async () => {
    // Sums of fractions of a millisecond are not exact.
    if (stage.clock.nextDueMs < quietMs + 1) {
      looks += 1;
      stage.clock.advance(quietMs + 1);
      return undefined;
    }
    if (looks === 0 && ++idle % 100 === 0) await put(stage, 'manifest.json', `{"look":${idle}}`);
    return (looks > 0 && isDone()) || undefined;
  }, what);
}

const noticedEvents = /config\.retained|config\.refused|config\.postponed/;

test.each(Object.keys(kinds))(
  verifies('config:absence', 'whatever befalls %s, an agent never sees more than before'),
  { timeout: 120_000 },
  async (name) => {
    const kind = kinds[name] as Kind; // one of its keys
    const stage = await open(kind);
    const agent = watchAgent(stage);
    onTestFinished(stage.clock.hold());
    for (const [what, damage] of Object.entries(damages)) {
      // Any text is a page.
      if (kind.file.endsWith('.md') && what === 'is nonsense') continue;
      const from = stage.log.length;
      await damage(stage, kind.file);
      await untilLooked(stage, () => isLogged(stage, from, noticedEvents), `the hub to notice that it ${what}`);
      const notices = stage.hub.configurationNotices().map(({ message }) => message);
      expect(notices.join(), what).toMatch(/^Still using the configuration from (\d{4}-\d\d-\d\d )?\d\d:\d\d: .*\.$/);
      expect(stage.hub.problems().map(({ message }) => message)).toEqual(expect.arrayContaining(notices));
      // However long it lasts.
      stage.clock.advance(60_000);
      const round = agent.rounds();
      await eventually(() => (agent.rounds() > round + 3 ? true : undefined), 'the agent to go on');
      await rm(stage.path('away'), { recursive: true, force: true });
      await rm(stage.path(`${kind.file}.away`), { recursive: true, force: true });
      await put(stage, kind.file, kind.text);
      await untilLooked(stage, () => stage.hub.configurationNotices().length === 0, `the end of: ${what}`);
      // The files are whole again, so that time may pass: a server that starts anew may wait for it.
      await eventually(async () => {
        stage.clock.advance(quietMs);
        return (await stage.names()).join() === 'up_look' || undefined;
      }, `up_look: ${what}`);
    }
    expect(await agent.stop()).toEqual([]);
  },
);

test.each(['rules and routes', 'a stronger server', 'an agent file', 'a team page'])(
  verifies('config:absence', '%s: a file that is cut at a line end, and grows again, opens nothing'),
  { timeout: 120_000 },
  async (name) => {
    const kind = kinds[name] as Kind; // one of its keys
    const stage = await open(kind);
    const agent = watchAgent(stage);
    onTestFinished(stage.clock.hold());
    const all = kind.text.split('\n').slice(0, -1);
    const shrinking = all.map((_, count) => count).reverse();
    for (const count of [...shrinking, ...all.map((_, index) => index + 1)]) {
      const text = all.slice(0, count).map((line) => `${line}\n`);
      await put(stage, kind.file, text.join(''));
      const round = agent.rounds();
      await untilLooked(stage, () => agent.rounds() > round + 3, 'the agent to go on');
    }
    expect(await agent.stop()).toEqual([]);
    await eventually(() => (stage.hub.configurationNotices().length === 0 ? true : undefined), 'the whole file');
    expect(await stage.names()).toEqual(['up_look']);
  },
);

test(
  verifies('config:absence', 'a rule that is taken out counts after three quiet seconds, with a warning'),
  async () => {
    const kind = kinds['rules and routes'] as Kind; // one of its keys
    const stage = await open(kind);
    const shorter = kind.text.replace('    up.write: deny\n', '');
    await put(stage, yaml, shorter);
    await noticed(stage, 0, /config\.postponed/);
    expect(stage.log.find((line) => line.includes('config.postponed'))).toContain('- policy: up.write deny');
    expect(stage.hub.configurationNotices()).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('waits until no file has changed for 3 s') },
    ]);
    expect(await stage.names()).toEqual(['up_look']);
    // Something that is unrelated starts the wait anew.
    await put(stage, yaml, `${shorter}# more\n`);
    await eventually(() => (stage.clock.waiting > 0 ? true : undefined), 'the wait');
    await stage.hurry(
      eventually(async () => ((await stage.names()).includes('up_write') ? true : undefined), 'the rule to go'),
    );
    expect(stage.hub.configurationNotices()).toEqual([]);
  },
);

test(verifies('config:absence', 'a rule that narrows is not said to wait; one that goes beside it is'), async () => {
  const kind = kinds['rules and routes'] as Kind; // one of its keys
  const stage = await open(kind);
  const narrower = `${kind.text}    up.look: deny\n`;
  await put(stage, yaml, narrower);
  await eventually(async () => ((await stage.names()).length === 0 ? true : undefined), 'the rule');
  expect(stage.log.filter((line) => line.includes('config.postponed'))).toEqual([]);
  await put(stage, yaml, narrower.replace('    up.write: deny\n', ''));
  await noticed(stage, 0, /config\.postponed/);
  const [said = ''] = stage.log.filter((line) => line.includes('config.postponed'));
  expect(said).toContain('- policy: up.write deny');
  expect(said).not.toContain('up.look');
});

test(verifies('config:absence', 'restrictions take effect at once, even if another file is missing'), async () => {
  const kind = kinds['an agent file'] as Kind; // one of its keys
  const stage = await open(kind);
  await rm(stage.path(kind.file));
  await noticed(stage, 0, /config\.retained/);
  await put(stage, yaml, lines('policies:', '  tools:', '    up.look: deny'));
  await eventually(async () => ((await stage.names()).length === 0 ? true : undefined), 'the rule');
  expect(stage.hub.configurationNotices()).toMatchObject([
    { file: kind.file, message: expect.stringContaining('is missing') },
    { message: expect.stringContaining('agents have what both versions allow') },
  ]);
});

test(
  verifies('config:absence', 'a file of servers alone may go: after three quiet seconds they are gone'),
  async () => {
    const stage = await openStage();
    await put(stage, '.mcp.json', JSON.stringify({ mcpServers: { other: named } }));
    await stage.start({ servers: { up: named } }, { watch: true });
    expect(await stage.names()).toContain('other_look');
    await unlink(stage.path('.mcp.json'));
    await noticed(stage, 0, /config\.retained/);
    expect(await stage.names()).toContain('other_look');
    await stage.hurry(
      eventually(async () => ((await stage.names()).includes('other_look') ? undefined : true), 'the server to go'),
    );
    expect(stage.hub.configurationNotices()).toEqual([]);
    expect(await stage.names()).toContain('up_look');
  },
);

test(
  verifies('config:absence', 'the operator takes up what is on disk with a reload, of all files or of one'),
  async () => {
    const kind = kinds['an agent file'] as Kind; // one of its keys
    const stage = await open(kind);
    await rm(stage.path(kind.file));
    await noticed(stage, 0, /config\.retained/);
    await put(stage, '.cursor/mcp.json', JSON.stringify({ mcpServers: { third: named } }));
    await stage.hub.reload(['.cursor/mcp.json']);
    expect(stage.hub.configuration.servers.has('third')).toBe(true);
    expect(await stage.names()).toEqual(['up_look']);
    await eventually(() => (stage.hub.configurationNotices().length === 1 ? true : undefined), 'the notice again');
    await stage.hub.reload();
    expect(await stage.names()).toContain('secret_write');
    expect(stage.hub.configurationNotices()).toEqual([]);
  },
);

test(
  verifies('config:absence', 'a file that is replaced while it is saved costs one line of the log at most'),
  async () => {
    const kind = kinds['rules and routes'] as Kind; // one of its keys
    const stage = await open(kind);
    const from = stage.log.length;
    await rename(stage.path(yaml), stage.path(`${yaml}~`));
    await pause(300);
    await writeFile(stage.path(yaml), kind.text);
    await eventually(() => (stage.hub.configurationNotices().length === 0 ? true : undefined), 'the file to be back');
    await pause(300);
    const loud = stage.log.slice(from).filter((line) => !line.includes('"level":"debug"'));
    expect(loud.length, loud.join('\n')).toBeLessThanOrEqual(1);
    await writeFile(stage.path(`${yaml}.tmp`), `${kind.text}# saved\n`);
    await rename(stage.path(`${yaml}.tmp`), stage.path(yaml));
    await noticed(stage, from, /"event":"config.applied"/);
    expect(stage.log.slice(from).filter((line) => line.includes('config.retained')).length).toBeLessThanOrEqual(1);
  },
);

test(verifies('config:absence', 'an environment file that a server names is retained too'), async () => {
  const stage = await openStage();
  await put(stage, 'secrets/up.env', 'FLAVOUR=salt\n');
  const echo = { ...stdioServer('echo-stdio.mjs'), envFile: 'secrets/up.env' };
  await put(stage, '.vscode/mcp.json', JSON.stringify({ servers: { up: echo } }));
  await stage.start('version: 1\n', { watch: true });
  expect(await stage.say('up_env', { name: 'FLAVOUR' })).toBe('salt');
  await rm(stage.path('secrets'), { recursive: true });
  await noticed(stage, 0, /config\.retained.*secrets\/up\.env/);
  stage.clock.advance(60_000);
  expect(await stage.say('up_env', { name: 'FLAVOUR' })).toBe('salt');
  await put(stage, 'secrets/up.env', 'FLAVOUR=pepper\n');
  await eventually(
    async () => ((await stage.say('up_env', { name: 'FLAVOUR' })) === 'pepper' ? true : undefined),
    'the new one',
  );
});
