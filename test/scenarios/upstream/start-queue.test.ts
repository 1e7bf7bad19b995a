import { appendFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Config, openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause, within } from '../../support/within.ts';

/**
 * A server in shell, which costs little: it writes `+NAME` when it starts and `-NAME` before it answers to the handshake,
 * for which it waits until there is a file of its name, or of the name `all`.
 */
const script = `
echo "{\\"at\\":\\"+$1\\"}" >>starts.log
while [ ! -e "go-$1" ] && [ ! -e go-all ]; do sleep 0.02; done
while read -r line; do
  id="\${line#*\\"id\\":}"
  id="\${id%%,*}"
  case "$line" in
    *'"initialize"'*)
      echo "{\\"at\\":\\"-$1\\"}" >>starts.log
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *tools/list*) result='{"tools":[{"name":"ping","inputSchema":{"type":"object"}}]}' ;;
    *tools/call*) result='{"content":[{"type":"text","text":"pong"}]}' ;;
    *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\\n' "$id"; continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`;

async function withServers(names: readonly string[]): Promise<Stage> {
  const stage = await openStage();
  await writeFile(stage.path('server.sh'), script);
  await writeFile(stage.path('starts.log'), '');
  await stage.start(configOf(stage, names));
  return stage;
}

function configOf(stage: Stage, names: readonly string[]): Config {
  const servers = names.map((name) => [name, { command: '/bin/sh', args: [stage.path('server.sh'), name] }]);
  return { servers: Object.fromEntries(servers) };
}

/** What happened, in order. */
async function events(stage: Stage): Promise<string[]> {
  return (await stage.lines('starts.log')).map(({ at }) => String(at));
}

async function startedAtLeast(stage: Stage, count: number): Promise<true | undefined> {
  return (await events(stage)).filter((event) => event.startsWith('+')).length >= count ? true : undefined;
}

test(
  verifies('upstream:starts', 'no more than eight servers start at a time, and all of them in the end'),
  async () => {
    const names = Array.from({ length: 24 }, (_, index) => `s${index}`);
    const stage = await withServers(names);
    // No server loses its turn because it takes long.
    const goOn = stage.clock.hold();
    const discovered = stage.hub.discover();
    await eventually(() => startedAtLeast(stage, 8), 'eight of them');
    // None of them answers, so a ninth would have started with them.
    await pause(300);
    expect((await events(stage)).filter((event) => event.startsWith('+'))).toHaveLength(8);
    await appendFile(stage.path('go-s0'), '');
    await eventually(() => startedAtLeast(stage, 9), 'the next one');
    await appendFile(stage.path('go-all'), '');
    goOn();
    await within(discovered, 'all of them', 60_000);
    expect(stage.hub.status().filter(({ tools }) => tools === 1)).toHaveLength(24);
    let starting = 0;
    const most = (await events(stage)).map((event) => (starting += event.startsWith('+') ? 1 : -1));
    expect(Math.max(...most)).toBeLessThanOrEqual(8);
  },
);

test(
  verifies('upstream:starts', 'the server that a call names starts before those that nobody waits for'),
  async () => {
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const stage = await withServers(names);
    await appendFile(stage.path('go-all'), '');
    await within(stage.hub.discover(), 'all of them', 60_000);
    await stage.stop();
    await rm(stage.path('go-all'));
    await writeFile(stage.path('starts.log'), '');
    await stage.start(configOf(stage, names));
    // All in one turn of the loop: eight take their turns, eleven wait, and then comes the call.
    const discovered = [stage.hub.discover(names.slice(0, 8)), stage.hub.discover(names.slice(8))];
    const said = stage.say('s19_ping');
    await eventually(() => startedAtLeast(stage, 9), 'one more than eight');
    await appendFile(stage.path('go-all'), '');
    expect(await within(said, 'the answer', 60_000)).toBe('pong');
    await within(Promise.all(discovered), 'the others', 60_000);
    const starts = (await events(stage)).filter((event) => event.startsWith('+'));
    // The eight that hang lose their turns together, so that as many start next; without the call it would be the last.
    expect(starts.slice(8, 16)).toContain('+s19');
  },
);
