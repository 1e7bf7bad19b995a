import { writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../../src/base/index.ts';
import { lockfileName } from '../../../src/config/index.ts';
import { codeOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { type Definitions, honest, lockfileOf, openRugPull, poison, tool } from './rug-pull.fixture.ts';

/** What a server may list: each tool as accepted, poisoned, absent, or one more. */
const listing: fc.Arbitrary<Definitions> = fc
  .record({
    read: fc.constantFrom('kept', 'poisoned', 'gone'),
    write: fc.constantFrom('kept', 'poisoned', 'gone'),
    more: fc.boolean(),
    instructions: fc.constantFrom('Be kind.', 'Be kind.', 'Be kind.', poison),
  })
  .map(({ read, write, more, instructions }) => ({
    instructions,
    tools: [
      tool('announce'),
      tool('exit'),
      ...listed('read', read),
      ...listed('write', write),
      ...(more ? [tool('spy', poison)] : []),
    ],
  }));

function listed(name: string, how: 'kept' | 'poisoned' | 'gone'): readonly object[] {
  return how === 'gone' ? [] : [how === 'kept' ? tool(name) : tool(name, poison)];
}

const step = fc.record({
  definitions: listing,
  how: fc.constantFrom('discover', 'announce', 'exit', 'reload', 'restart'),
});

test(verifies(
  'lock:only-accepted',
  'whatever sequence of lists a server sends, agents list and call only accepted tools',
), async () => {
  const { stage, lists, ran } = await openRugPull({ ...honest, instructions: 'Be kind.' });
  await writeFile(stage.path(lockfileName), lockfileOf(stage.hub));
  await stage.hub.reload();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      for (const { definitions, how } of steps) {
        await lists(definitions);
        if (how === 'announce') await stage.call('notes_announce', { times: 3 });
        if (how === 'exit') await stage.call('notes_exit');
        if (how === 'reload') await stage.hub.reload();
        if (how === 'restart') {
          await stage.stop();
          await stage.open();
        }
        if (how === 'discover') await stage.hub.discover();
        expectOnlyAccepted(stage.hub.viewOf(stage.hub.callerFor({ agent: 'tester' })).toolsText);
        const before = (await ran()).length;
        // A poisoned tool that was not compared yet may be called as it was accepted, but no new one ever.
        expect(['TOOL_UNKNOWN', 'UPSTREAM_UNAVAILABLE']).toContain(codeOf(await stage.call('notes_spy')));
        await stage.hub.discover();
        const isPoisoned = definitions.tools.some(
          (each) => isJsonObject(each) && each.name === 'read' && each.description === poison,
        );
        if (isPoisoned) {
          // Unknown where the hub has not seen it since the server was refused as a whole.
          expect(['POLICY_DENIED', 'TOOL_UNKNOWN']).toContain(codeOf(await stage.call('notes_read')));
          expect((await ran()).slice(before)).not.toContain('read');
        }
        expectOnlyAccepted(stage.hub.viewOf(stage.hub.callerFor({ agent: 'tester' })).toolsText);
      }
    }),
    { numRuns: 12 },
  );
}, 600_000);

function expectOnlyAccepted(text: string): void {
  expect(text).not.toContain(poison);
  expect(text).not.toContain('spy');
}
