import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { noClientCapabilities } from '../../mcp/index.ts';
import { openCallStage } from '../call-stage.fixture.ts';
import { catalogOf, scriptedResult } from '../scripted-server.fixture.ts';

const modernClient = {
  principal: 'p',
  session: undefined,
  clientCapabilities: noClientCapabilities,
  takesInputRequired: true,
  takesTasks: true,
};

test.each([
  ['complete', '{"content":[]}', 'ok'],
  ['a tool error', '{"isError":true,"content":[]}', 'tool_error'],
  ['of an unknown type', '{"resultType":"hunter2"}', 'upstream_error'],
  ['a task without an id', '{"resultType":"task"}', 'upstream_error'],
  ['a request for input that is malformed', '{"resultType":"input_required"}', 'upstream_error'],
])(verifies('ledger:outcomes', 'the record has the HTTP status if the result is %s'), async (_what, text, outcome) => {
  const stage = await openCallStage();
  const catalog = catalogOf([{ name: 'write', inputSchema: { type: 'object' } }]);
  stage.files.catalog = { ...catalog, abilities: { ...catalog.abilities, tasks: true } };
  stage.views.renew(stage.source);
  stage.files.replies = [() => ({ ...scriptedResult(text), httpStatus: 200 })];
  await stage.run(stage.call('files_write', { client: modernClient }));
  expect(await stage.lines()).toMatchObject([{ outcome, http_status: 200 }]);
});
