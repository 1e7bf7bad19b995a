import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { HubError } from '../../base/index.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { type ConfigurationDraft, draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import { catalogOf, handlesOf, type ScriptedServer, sourceOf } from '../scripted-server.fixture.ts';
import { createViews } from './views.ts';

const read = [{ name: 'read', inputSchema: { type: 'object' } }];
const dev = ['dev'];

test('a view is built once, and again after something changed', () => {
  const { views, source, servers } = stage({ servers: { files: {} } }, { files: read });
  const before = views.of(dev);
  expect(views.of(dev)).toBe(before);
  expect(views.of(['dev'])).toBe(before);
  expect(views.of(['dev', 'ops'])).not.toBe(before);
  views.renew(source);
  expect(views.of(dev)).toBe(before);
  server(servers, 'files').catalog = catalogOf([...read, { name: 'write', inputSchema: { type: 'object' } }]);
  views.renew(source);
  expect(views.of(dev)).not.toBe(before);
  expect(views.of(['dev'])).toBe(views.of(dev));
});

test('a view that somebody holds does not change under them', () => {
  const { views, source, servers } = stage({ servers: { files: {} } }, { files: read });
  const before = views.of(dev);
  server(servers, 'files').catalog = catalogOf([]);
  expect([...before.entries.keys()]).toEqual(['files_read']);
  views.renew(source);
  expect([...before.entries.keys()]).toEqual(['files_read']);
  expect(views.of(dev).entries.size).toBe(0);
});

test('a changed configuration decides anew', () => {
  const { views, source } = stage({ servers: { files: {} } }, { files: read });
  expect(views.of(dev).entries.size).toBe(1);
  views.renew({
    ...source,
    configuration: draftConfiguration({ servers: { files: {} }, policy: { 'files.*': 'deny' } }),
  });
  expect(views.of(dev).entries.size).toBe(0);
});

test('listeners are told of each renewal until they stop listening', () => {
  const { views, source } = stage({ servers: { files: {} } }, { files: read });
  const seen: string[] = [];
  const stop = views.onRenew(() => seen.push(`first sees ${views.of(dev).entries.size}`));
  views.onRenew(() => seen.push('second'));
  views.renew(source);
  stop();
  stop();
  views.renew(source);
  expect(seen).toEqual(['first sees 1', 'second', 'second']);
});

test('nobody waits where every server is known', async () => {
  const { views, clock, servers } = stage({ servers: { files: {} } }, { files: read });
  expect(await views.settled(dev)).toBe(views.of(dev));
  expect(clock.waiting).toBe(0);
  expect(server(servers, 'files').refreshes).toBe(0);
});

test('a server that answers in time is in the first list', async () => {
  const { views, clock, servers, source } = stage({ servers: { files: {}, web: {} } }, { files: read });
  const web = server(servers, 'web');
  web.onRefresh = async () => {
    web.catalog = catalogOf(read);
    views.renew(sourceOf(source.configuration, servers));
  };
  const view = await views.settled(dev);
  expect([...view.entries.keys()]).toEqual(['files_read', 'web_read']);
  expect(view.undiscovered).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('a server that fails at once delays nobody', async () => {
  const { views, clock } = stage({ servers: { files: {}, web: {} } }, { files: read });
  expect([...(await views.settled(dev)).entries.keys()]).toEqual(['files_read']);
  expect(clock.waiting).toBe(0);
});

test(
  verifies(
    'view:cold-list',
    'a hung server delays first lists by 25 seconds, later ones not at all, and is listed when it comes',
  ),
  async () => {
    const { views, clock, servers, source } = stage({ servers: { files: {}, hung: {} } }, { files: read });
    const hung = server(servers, 'hung');
    let answer: () => void = () => {};
    hung.onRefresh = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const first = watch(views.settled(dev));
    clock.advance(15_000);
    const second = watch(views.settled(['ops']));
    await turn();
    expect([first.done, second.done]).toEqual([false, false]);
    clock.advance(9999);
    await turn();
    expect([first.done, second.done]).toEqual([false, false]);
    clock.advance(1);
    // The wait is for the server, not for each list of it.
    expect([...(await first.promise).entries.keys()]).toEqual(['files_read']);
    expect([...(await second.promise).entries.keys()]).toEqual(['files_read']);
    const later = watch(views.settled(dev));
    await turn();
    expect(later.done).toBe(true);
    expect(clock.waiting).toBe(0);

    const announced: string[][] = [];
    views.onRenew(() => announced.push([...views.of(dev).entries.keys()]));
    hung.catalog = catalogOf(read);
    views.renew(sourceOf(source.configuration, servers));
    answer();
    expect(announced).toEqual([['files_read', 'hung_read']]);
  },
);

test('a client that cannot wait gets its list in its own time, and a later one waits on', async () => {
  const { views, clock, servers } = stage({ servers: { files: {}, hung: {} } }, { files: read });
  server(servers, 'hung').onRefresh = () => new Promise(() => {});
  const hasty = watch(views.settled(dev, 800));
  clock.advance(799);
  await turn();
  expect(hasty.done).toBe(false);
  clock.advance(1);
  expect([...(await hasty.promise).entries.keys()]).toEqual(['files_read']);
  const patient = watch(views.settled(dev));
  await turn();
  expect(patient.done).toBe(false);
  clock.advance(24_200);
  await patient.promise;
  expect(clock.waiting).toBe(0);
});

test('a server that failed once is asked again, and not waited for', async () => {
  const { views, clock, servers } = stage({ servers: { files: {}, broken: {} } }, { files: read });
  const broken = server(servers, 'broken');
  broken.failure = new HubError('UPSTREAM_UNAVAILABLE', 'refused');
  broken.onRefresh = () => new Promise(() => {});
  expect((await views.settled(dev)).undiscovered).toHaveLength(1);
  expect([broken.refreshes, clock.waiting]).toEqual([1, 0]);
});

test('a call waits for the server that it names within the timeout of its calls, and only so many at once', async () => {
  const { views, clock, servers } = stage({ servers: { slow: {} } }, {});
  const slow = server(servers, 'slow');
  const { concurrency, timeoutMs } = slow.control.spec.limits;
  slow.onRefresh = () => new Promise(() => {});
  for (let roundTrip = 0; roundTrip < 2; roundTrip++) {
    const waiting = Array.from({ length: concurrency }, () => watch(views.contacted(dev, slow.control, 10)));
    await views.contacted(dev, slow.control, 10);
    expect(waiting.map(({ done }) => done)).not.toContain(true);
    clock.advance(timeoutMs);
    await Promise.all(waiting.map(({ promise }) => promise));
  }
  expect(clock.waiting).toBe(0);
});

test('calls that wait for a server hold only so much in all', async () => {
  const { views, clock, servers } = stage({ servers: { slow: {}, late: {} } }, {});
  for (const name of ['slow', 'late']) server(servers, name).onRefresh = () => new Promise(() => {});
  const first = watch(views.contacted(dev, 'any', 31 * 1024 * 1024));
  // There is no room for another large one, and there is for a small one.
  await views.contacted(dev, 'any', 2 * 1024 * 1024);
  const small = watch(views.contacted(dev, 'any', 1000));
  await turn();
  expect([first.done, small.done]).toEqual([false, false]);
  clock.advance(25_000);
  await Promise.all([first.promise, small.promise]);
  expect(clock.waiting).toBe(0);
});

test('a server that was seen before and is away for too long is asked, and not waited for', async () => {
  const { views, servers, clock, source } = stage({ servers: { files: {} } }, { files: read });
  const files = server(servers, 'files');
  files.lastCatalog = files.catalog;
  files.catalog = undefined;
  views.renew(source);
  files.onRefresh = () => new Promise(() => {});
  expect((await views.settled(dev)).undiscovered).toHaveLength(1);
  expect([files.refreshes, clock.waiting]).toEqual([1, 0]);
});

test('only servers that the agent sees are waited for', async () => {
  const draft = {
    servers: { files: {}, hung: {} },
    agents: { dev: { servers: ['files'] }, ops: { servers: ['hung'] } },
  };
  const { views, servers } = stage(draft, { files: read });
  server(servers, 'hung').onRefresh = () => new Promise(() => {});
  expect([...(await views.settled(dev)).entries.keys()]).toEqual(['files_read']);
  expect(server(servers, 'hung').refreshes).toBe(0);
});

test('names do not depend on which agent asks first', () => {
  const draft: ConfigurationDraft = {
    servers: { a_b: {}, a: {} },
    agents: { dev: { servers: ['a_b'] }, ops: { servers: ['a'] } },
  };
  const tools = {
    a_b: [{ name: 'c', inputSchema: { type: 'object' } }],
    a: [{ name: 'b_c', inputSchema: { type: 'object' } }],
  };
  const namesSeen = (...order: string[]): Record<string, string[]> => {
    const { views } = stage(draft, tools);
    const seen = order.map((agent) => [agent, [...views.of([agent]).entries.keys()]]);
    return Object.fromEntries(seen);
  };
  expect(namesSeen('dev', 'ops')).toEqual(namesSeen('ops', 'dev'));
  expect(namesSeen('ops', 'dev').dev).toEqual(['a_b_c']);
});

test('more agents than are kept in mind still get their views', () => {
  const { views } = stage({ servers: { files: {} } }, { files: read });
  for (let index = 0; index < 2000; index++) expect(views.of([`agent-${index}`]).entries.size).toBe(1);
  expect(views.of(['agent-0']).chain).toEqual(['agent-0']);
});

function stage(draft: ConfigurationDraft, catalogs: Readonly<Record<string, readonly object[]>>) {
  const configuration = draftConfiguration(draft);
  const servers = handlesOf(configuration, catalogs);
  const source = sourceOf(configuration, servers);
  const clock = createManualClock();
  return { views: createViews({ clock }, source), source, servers, clock };
}

function server(servers: ReadonlyMap<string, ScriptedServer>, name: string): ScriptedServer {
  const found = servers.get(name);
  if (found === undefined) throw new Error(`no server ${name}`);
  return found;
}

function watch<T>(promise: Promise<T>): { readonly promise: Promise<T>; readonly done: boolean } {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  return {
    promise,
    get done() {
      return done;
    },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
