import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath, startHttpFixture } from '../../../test/support/fixture-servers.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { AgentOptions, Logger, LogMessage } from '../../index.ts';
import { openLibraryHub } from './library-stage.fixture.ts';

const eras = ['legacy', 'modern'] as const;

function matrix(era: (typeof eras)[number]): object {
  const args = [fixturePath('matrix.mjs'), '--era', era, '--label', 'm', '--stdio'];
  return { m: { command: process.execPath, args, isolation: 'per-session', roots: 'client' } };
}

const folder = import.meta.dirname;
const here = pathToFileURL(folder).href;

const answering: AgentOptions = {
  onElicitation: (serverRequest, { server }) =>
    serverRequest.mode === 'form'
      ? {
          action: 'accept',
          content: { answer: `${server} ${Object.keys(serverRequest.requestedSchema.properties ?? {})}` },
        }
      : { action: serverRequest.url.startsWith('https://example.com/') ? 'accept' : 'cancel' },
  onSampling: async ({ messages, maxTokens }) => ({
    model: 'mine',
    content: { type: 'text', text: `${messages.length} ${maxTokens}` },
  }),
  onRoots: () => [{ uri: here, name: 'here' }],
};

test.each(eras)(verifies('library:server-requests', 'a program answers what a %s server asks'), async (era) => {
  const hub = await openLibraryHub({ servers: matrix(era), allowPaths: [folder] });
  const agent = hub.agent('asked', answering);
  const say = async (tool: string): Promise<unknown> => (await agent.call(`m.${tool}`, { nonce: 'n' })).text;
  expect(await say('ask_form')).toBe('m:n:accept:m answer');
  expect(await say('ask_url')).toBe('m:n:accept');
  expect(await say('ask_sampling')).toBe('m:n:mine:1 100');
  expect(await say('ask_roots')).toBe(`m:n:${here}`);
  expect(await say('ask_twice')).toBe('m:n:accept:m answer');
});

test.each(eras)(
  verifies('library:server-requests', 'a handler that fails is an error to a %s server, which learns nothing of it'),
  async (era) => {
    const logged: unknown[] = [];
    const note = (event: string, fields?: object): void => void logged.push({ event, ...fields });
    const logger: Logger = { debug() {}, info() {}, warn() {}, error: note };
    const hub = await openLibraryHub({ servers: matrix(era) }, { logger });
    const failing = hub.agent('asked', {
      onElicitation: () => {
        throw new Error('secret of the program');
      },
      onRoots: () => 'nothing' as unknown as [],
    });
    const asked = await Promise.allSettled([
      failing.call('m.ask_form', { nonce: 'n' }),
      failing.call('m.ask_roots', { nonce: 'n' }),
    ]);
    // A form has an answer for that in the newer revision; everything else fails there.
    expect(asked.map(({ status }) => status)).toEqual(
      era === 'modern' ? ['fulfilled', 'rejected'] : ['fulfilled', 'fulfilled'],
    );
    expect(JSON.stringify(asked)).not.toContain('secret of the program');
    expect(JSON.stringify(asked)).toContain(era === 'modern' ? 'm:n:cancel' : 'The client could not answer');
    expect(logged).toContainEqual(
      expect.objectContaining({
        event: 'library.request-handler-failed',
        server: 'm',
        error: expect.stringContaining('secret'),
      }),
    );
  },
);

test.each(eras)('what has no handler is not declared to a %s server', async (era) => {
  const hub = await openLibraryHub({ servers: matrix(era), allowPaths: [folder] });
  const { onRoots } = answering;
  const agent = hub.agent('asked', onRoots === undefined ? {} : { onRoots });
  expect((await agent.call('m.ask_roots', { nonce: 'n' })).text).toBe(`m:n:${here}`);
  const form = await agent.call('m.ask_form', { nonce: 'n' }).then(
    ({ isError }) => isError,
    ({ code }: { code: unknown }) => code,
  );
  expect(form).toBe(era === 'legacy' ? true : 'UPSTREAM_FAILED');
});

test('a legacy server that all share is answered only where its question belongs to a call', async () => {
  const args = ['--era', 'legacy', '--label', 'm'];
  const http = await startHttpFixture('matrix.mjs', args);
  onTestFinished(() => http.stop());
  const pipes = { command: process.execPath, args: [fixturePath('matrix.mjs'), ...args, '--stdio'] };
  const hub = await openLibraryHub({ servers: { http: { url: http.url }, pipes } });
  const agent = hub.agent('asked', answering);
  expect(await agent.call('pipes.ask_form', { nonce: 'n' })).toMatchObject({ isError: true });
  const { content } = await agent.call('http.ask_form', { nonce: 'n' });
  expect(content).toEqual([{ type: 'text', text: 'm:n:accept:http answer' }]);
});

test('a question that nobody waits for any more aborts its signal', async () => {
  const hub = await openLibraryHub({ servers: matrix('legacy') });
  const stop = new AbortController();
  let abort = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
  });
  const agent = hub.agent('asked', {
    onElicitation(_question, { signal }) {
      signal.addEventListener('abort', () => abort(), { once: true });
      stop.abort();
      return new Promise(() => {});
    },
  });
  const cancelled = agent.call('m.ask_form', { nonce: 'n' }, { signal: stop.signal });
  await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
  await aborted;
});

test.each(eras)('the log of a %s server reaches the program from its level on', async (era) => {
  const hub = await openLibraryHub({ servers: matrix(era) });
  const heard: LogMessage[] = [];
  const agent = hub.agent('asked', { onLog: (message) => heard.push(message), logLevel: 'warning' });
  await agent.call('m.chatty', { nonce: 'n' });
  expect(heard).toEqual([
    { server: 'm', level: 'warning', logger: 'm', data: 'm:n:warning' },
    { server: 'm', level: 'error', logger: 'm', data: 'm:n:error' },
  ]);
});

test(verifies('library:session', 'each handle is a client of its own where a server wants that'), async () => {
  const hub = await openLibraryHub({ servers: matrix('legacy') });
  const [first, second] = [hub.agent('asked', answering), hub.agent('asked')];
  const cancelledIn = async (agent: typeof first): Promise<unknown> =>
    JSON.parse(String((await agent.call('m.cancelled')).text)).nonces;
  const stop = new AbortController();
  const hanging = first.call('m.hang', { nonce: 'x' }, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(hanging).rejects.toMatchObject({ code: 'CANCELLED' });
  expect([await cancelledIn(first), await cancelledIn(second)]).toEqual([['x'], []]);
});
