import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type ClientResponse, clientCapabilitiesOf, type ServerRequest } from '../mcp/index.ts';
import type { UpstreamReply } from '../upstream/index.ts';
import type { CallRequest, CallResult } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import { scriptedResult } from './scripted-server.fixture.ts';

/** The stage's filter lets every root pass but this one. */
const [kept, dropped] = [{ uri: 'file:///kept', name: 'kept' }, 'dropped'];
const done = scriptedResult('{"content":[]}');
const rootsList: ServerRequest = { method: 'roots/list', params: {}, paramsText: '{}' };
const asksForRoots = scriptedResult(
  '{"resultType":"input_required","inputRequests":{"mine":{"method":"roots/list","params":{}}}}',
);

function openFor(roots: 'none' | 'client'): Promise<CallStage> {
  return openCallStage({}, {}, undefined, { files: { roots } });
}

function rootedClient(takesInputRequired: boolean, more: Partial<CallRequest> = {}): Partial<CallRequest> {
  const clientCapabilities = clientCapabilitiesOf({ elicitation: {}, roots: { listChanged: true } });
  const answer: ClientResponse = { kind: 'result', text: JSON.stringify({ roots: [dropped, kept], more: 1 }) };
  return {
    client: { principal: 'p', session: 's', clientCapabilities, takesInputRequired },
    channel: { ask: async () => answer },
    ...more,
  };
}

async function run(stage: CallStage, request: Partial<CallRequest>, ...replies: UpstreamReply[]): Promise<CallResult> {
  if (replies.length > 0) stage.files.replies = replies.map((reply) => () => reply);
  return stage.run(stage.call('files_write', request));
}

function codeOf(result: CallResult): string | undefined {
  return result.kind === 'failed' ? result.error.code : undefined;
}

test(verifies('roots:configured', 'a server that gets no roots does not learn that the client has some'), async () => {
  const stage = await openFor('none');
  const owners: unknown[] = [];
  const { dispatch } = stage.files;
  const at = (owner: unknown): unknown => {
    owners.push(owner);
    return dispatch;
  };
  Object.assign(dispatch, { isolated: { at, keyOf: () => '' } });
  let answer: ClientResponse | undefined;
  stage.files.replies = [
    async ({ handlers }) => {
      answer = await handlers?.ask(rootsList);
      return done;
    },
  ];
  expect(await stage.run(stage.call('files_write', rootedClient(false)))).toMatchObject({ kind: 'result' });
  expect(answer).toMatchObject({ kind: 'error', text: expect.stringContaining('-32601') });
  expect(stage.files.sent.map(({ capabilities }) => capabilities)).toEqual(['{"elicitation":{}}']);
  expect(owners).toEqual([expect.objectContaining({ capabilities: '{"elicitation":{}}' })]);
});

test.each([true, false])(
  verifies('roots:configured', 'a modern server that gets no roots cannot ask for them (modern client: %s)'),
  async (isModern) => {
    const stage = await openFor('none');
    const result = await run(stage, rootedClient(isModern), asksForRoots, done);
    expect(result).toMatchObject({
      kind: 'failed',
      error: { code: 'CAPABILITY_MISSING', hint: expect.stringContaining('roots: client') },
    });
    expect(stage.files.sent).toHaveLength(1);
  },
);

test.each([
  ['"inputResponses":{"mine":{"roots":[]}}'],
  ['"inputResponses":{"a":{"action":"accept"},"mine":{"\\u0072oots":[{"uri":"file:///"}]}},"requestState":"s"'],
  ['"inputResponses":{"__proto__":{"roots":["file:///"]}}'],
])(verifies('roots:configured', 'roots that nobody asked for do not reach such a server: %s'), async (inputs) => {
  const stage = await openFor('none');
  expect(codeOf(await run(stage, rootedClient(true, { inputs }), done))).toBe('INVALID_PARAMS');
  expect(stage.files.sent).toEqual([]);
  expect(await stage.lines()).toMatchObject([{ status: 'error' }]);
});

test(
  verifies('roots:configured', 'a server that is configured for roots gets those that pass the filter'),
  async () => {
    const stage = await openFor('client');
    let answer: ClientResponse | undefined;
    stage.files.replies = [
      async ({ handlers }) => {
        answer = await handlers?.ask(rootsList);
        return done;
      },
    ];
    await stage.run(stage.call('files_write', rootedClient(false)));
    expect(answer).toEqual({ kind: 'result', text: JSON.stringify({ roots: [kept] }) });
    expect(stage.files.sent[0]?.capabilities).toBe('{"elicitation":{},"roots":{"listChanged":true}}');
    await run(stage, rootedClient(false), asksForRoots, done);
    expect(stage.files.sent.at(-1)?.members).toContain(
      `"inputResponses":{"mine":${JSON.stringify({ roots: [kept] })}}`,
    );
  },
);

test(verifies('roots:configured', 'of the answers of a modern client, only roots are changed'), async () => {
  const stage = await openFor('client');
  const form = '"form": {"action":"accept","content":{"n":1.50,"roots":["dropped"]}}';
  const inputs = `"inputResponses":{${form},"mine":{"roots":["dropped",{"uri":"file:///kept"}]}},"requestState":"s"`;
  expect(await run(stage, rootedClient(true, { inputs }), done)).toMatchObject({ kind: 'result' });
  const sent = stage.files.sent[0]?.members.replace('"name":"write","arguments":{},', '');
  expect(JSON.parse(`{${sent}}`)).toEqual({
    inputResponses: {
      form: { action: 'accept', content: { n: 1.5, roots: ['dropped'] } },
      mine: { roots: [{ uri: 'file:///kept' }] },
    },
    requestState: 's',
  });
  expect(sent).toContain(form);
  const all = '"inputResponses":{"__proto__":{"roots":["dropped"]},"b":{"roots":7}}';
  await run(stage, rootedClient(true, { inputs: all }), done);
  expect(stage.files.sent[1]?.members).toContain('"inputResponses":{"__proto__":{"roots":[]},"b":{"roots":[]}}');
});
