import { expect, test } from 'vitest';
import { openStage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';

test(verifies('hub:project', 'a caller of a project that is not here gets nothing'), async () => {
  const stage = await openStage();
  const hub = await stage.start({ servers: { up: stdioServer('echo-stdio.mjs') } });
  await stage.names();
  const own = hub.callerFor({ agent: 'tester' });
  expect(own.project).toBe('workspace');
  expect([...hub.viewOf(own).entries.keys()]).toContain('up_echo');

  const stranger = hub.callerFor({ agent: 'tester', project: 'other' });
  const call = { kind: 'tool', name: 'up_echo', argumentsText: '{}', args: {}, meta: '', channel: undefined } as const;
  const nothing = expect.objectContaining({ message: expect.stringContaining('no project "other"') });
  expect(() => hub.call({ ...call, caller: stranger })).toThrow(nothing);
  expect(() => hub.viewOf(stranger)).toThrow(nothing);
  expect(() => hub.mayLog(stranger)).toThrow(nothing);
  expect(await stage.ledger()).toEqual([]);
});
