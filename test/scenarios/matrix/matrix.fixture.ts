import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isEverydayRun } from '../../support/everyday.ts';
import { fixturePath, startHttpFixture } from '../../support/fixture-servers.ts';
import { type Config, createWorkspace, startGateway } from '../../support/gateway.ts';
import { type Endpoint, type Era, type MatrixClient, openMatrixClient } from '../../support/matrix-clients.ts';
import { eventually } from '../../support/within.ts';

type Way = 'HTTP' | 'stdio';
/** The older HTTP transport has no clients of the modern era. */
type FaceWay = Way | 'SSE';

/** Who speaks which era, and over what. */
export interface Cell {
  readonly clients: Era;
  readonly face: FaceWay;
  readonly servers: Era;
  readonly reach: Way;
}

/** Two agents at two servers, all through the hub and all at once. */
export interface Matrix {
  readonly cell: Cell;
  /** The folder with the clients' roots. */
  readonly roots: string;
  readonly ann: MatrixClient;
  readonly bob: MatrixClient;
  /** Does the same for each agent at each server at once, with a nonce that nobody else has. */
  everywhere<T>(act: (place: Place) => Promise<T>): Promise<T[]>;
}

export interface Place {
  readonly client: MatrixClient;
  readonly server: 'north' | 'south';
  readonly nonce: string;
  /** How the server signs what belongs to this nonce. */
  readonly sign: string;
}

const eras: readonly Era[] = ['legacy', 'modern'];
const ways: readonly Way[] = ['HTTP', 'stdio'];
const faces: Readonly<Record<Era, readonly FaceWay[]>> = { legacy: [...ways, 'SSE'], modern: ways };
const cells: readonly Cell[] = eras.flatMap((clients) =>
  eras.flatMap((servers) =>
    faces[clients].flatMap((face) => ways.map((reach): Cell => ({ clients, face, servers, reach }))),
  ),
);

/**
 * `npm test` runs half of the cells, in a checkerboard: every face meets every way to reach a server, in both eras.
 * `npm run test:mcp` and vitest by itself run all of them.
 */
function runsToday({ clients, face, servers, reach }: Cell): boolean {
  if (!isEverydayRun()) return true;
  const steps = [eras.indexOf(clients), eras.indexOf(servers), faces.legacy.indexOf(face), ways.indexOf(reach)];
  return steps.reduce((sum, step) => sum + step) % 2 === 0;
}

const qm = resolve(import.meta.dirname, '..', '..', '..', 'bin', 'qm');
const labels = ['north', 'south'] as const;

/**
 * The same tests for pairs of eras and ways. `settings` are added to each server; whatever happens in the
 * tests, at their end nobody has heard anything that was meant for another.
 */
export function describeMatrix(
  settings: (cell: Cell) => object,
  tests: (matrix: () => Matrix, cell: Cell) => void,
  wanted: (cell: Cell) => boolean = () => true,
): void {
  describe.each(cells.filter((cell) => wanted(cell) && runsToday(cell)))(
    '$clients clients over $face, $servers servers over $reach',
    (cell) => {
      const undo: Undo = [];
      let matrix: Matrix | undefined;

      beforeAll(async () => {
        const started = labels.map(async (label) => [
          label,
          { ...(await serverOf(cell, label, undo)), roots: 'client', ...settings(cell) },
        ]);
        const servers = Object.fromEntries(await Promise.all(started));
        const roots = await makeRoots(undo);
        matrix = await open(cell, { servers, allowPaths: [roots] }, { roots, undo });
      });

      afterAll(async () => {
        for (const step of undo.toReversed()) await step();
      });

      const opened = (): Matrix => {
        if (matrix === undefined) throw new Error('the matrix did not open');
        return matrix;
      };
      tests(opened, cell);

      test('nobody heard what was meant for another', () => {
        for (const client of [opened().ann, opened().bob]) expectOnlyOwn(client);
      });
    },
  );
}

export async function resourcesOf({ client }: MatrixClient): Promise<string[]> {
  const { resources } = await client.listResources();
  return resources.map(({ uri }) => uri).toSorted();
}

/** What both servers call `shared://readme`: who came first has that address, the other one a longer one. */
export async function readmes(client: MatrixClient): Promise<{ readonly north: string; readonly south: string }> {
  const [short, long] = ['shared://readme', (server: string) => `${server}+shared://readme`] as const;
  const uris = await resourcesOf(client);
  return uris.includes(long('south')) ? { north: short, south: long('south') } : { north: long('north'), south: short };
}

type Undo = (() => Promise<unknown>)[];

async function serverOf({ servers, reach }: Cell, label: string, undo: Undo): Promise<object> {
  const args = ['--era', servers, '--label', label];
  if (reach === 'stdio') {
    return { command: process.execPath, args: [fixturePath('matrix.mjs'), ...args, '--stdio'] };
  }
  const fixture = await startHttpFixture('matrix.mjs', args);
  undo.push(() => fixture.stop());
  return { url: fixture.url };
}

/** A folder with a root for each client. */
async function makeRoots(undo: Undo): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-roots-')));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['ann', 'bob']) await mkdir(join(folder, name));
  return folder;
}

export function rootOf({ roots }: Pick<Matrix, 'roots'>, { name }: Pick<MatrixClient, 'name'>): string {
  return pathToFileURL(join(roots, name)).href;
}

async function open(
  cell: Cell,
  config: Config,
  { roots, undo }: { readonly roots: string; readonly undo: Undo },
): Promise<Matrix> {
  const endpointOf = cell.face === 'stdio' ? await pipe(config, undo) : await serve(config, cell.face, undo);
  const connect = async (name: string): Promise<MatrixClient> => {
    const client = await openMatrixClient(name, cell.clients, await endpointOf(name), rootOf({ roots }, { name }));
    undo.push(() => client.close());
    await eventually(async () => {
      const { tools } = await client.client.listTools();
      return labels.every((label) => tools.some((tool) => tool.name === `${label}_echo`)) || undefined;
    }, 'the tools of both servers');
    return client;
  };
  const [ann, bob] = await Promise.all([connect('ann'), connect('bob')]);
  const mark = cells.indexOf(cell);
  let count = 0;
  return {
    cell,
    roots,
    ann,
    bob,
    everywhere(act) {
      count++;
      const places = [ann, bob].flatMap((client) =>
        labels.map((server): Place => {
          const nonce = `${client.name}-${server}-${mark}-${count}`;
          return { client, server, nonce, sign: `${server}:${nonce}` };
        }),
      );
      return Promise.all(places.map(act));
    },
  };
}

type EndpointOf = (agent: string) => Promise<Endpoint>;

async function serve(config: Config, face: FaceWay, undo: Undo): Promise<EndpointOf> {
  const gateway = await startGateway(config);
  undo.push(() => gateway.stop());
  const url = face === 'SSE' ? `${gateway.origin}/sse` : gateway.url;
  return async (agent) => ({ url, token: await gateway.token(agent) });
}

async function pipe(config: Config, undo: Undo): Promise<EndpointOf> {
  const workspace = await createWorkspace(config);
  undo.push(() => rm(workspace, { recursive: true, force: true, maxRetries: 3 }));
  return async (agent) => ({
    command: process.execPath,
    args: [qm, 'stdio', '--agent', agent, '--workspace', workspace],
  });
}

function expectOnlyOwn({ name, records }: MatrixClient): void {
  const { questions, progress, logs, completed, others } = records;
  // An HTTP request of the handshake era needs an answer even when it was cancelled; its client waits no more.
  const errors = records.errors.filter((error) => !error.includes('"code":"CANCELLED"'));
  const signed = [...questions.filter((message) => message !== 'roots'), ...progress, ...logs, ...completed];
  const strange = signed.filter((message) => !message.includes(`:${name}-`));
  expect({ strange, others, errors }, name).toEqual({ strange: [], others: [], errors: [] });
}
