import { expect, test } from 'vitest';
import { codeOf, textOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { ann, askingStage, question, untilState } from './approvals.fixture.ts';

test(
  verifies('approvals:held', 'an approved call runs once, and its record has the approval and its nonce'),
  async () => {
    const stage = await askingStage();
    const held = stage.begin('echo_counter');
    const { id } = await question(stage.hub);
    expect(held.call.state).toBe('held');
    expect(stage.hub.load()).toMatchObject([{ name: 'echo', inFlight: 0 }]);
    const approvals = await stage.hub.approvals.opened();
    await approvals.approve(id, ann);
    expect(textOf(await held.result)).toContain('1');
    const spent = await untilState(stage.hub, id, 'spent');
    const [line] = await stage.ledger();
    expect(line).toMatchObject({ outcome: 'ok', decision: 'ask', approval: id });
    expect(spent.state).toMatchObject({ by: ann, call: line?.call_id, nonce: line?.approval_nonce, outcome: 'ok' });
  },
);

test(verifies('approvals:once', 'a spent approval is no approval: the next equal call asks again'), async () => {
  const stage = await askingStage();
  const first = stage.begin('echo_counter');
  const { id } = await question(stage.hub);
  await (await stage.hub.approvals.opened()).approve(id, ann);
  await first.result;
  stage.begin('echo_counter').result.catch(() => {});
  expect((await question(stage.hub)).id).not.toBe(id);
});

test(
  verifies('approvals:pending', 'a call that nobody decides on in time is pending, and the next equal one goes on'),
  async () => {
    const stage = await askingStage({ approvals: { wait: '1s' } });
    const pending = await stage.hurry(stage.call('echo_counter', { b: 1, a: [1.0, 'x'] }));
    if (pending.kind !== 'result') throw new Error(codeOf(pending));
    const { structuredContent, content, isError } = pending.result.value;
    const { id } = await question(stage.hub);
    expect(structuredContent).toMatchObject({
      status: 'pending-approval',
      id,
      retry: expect.stringContaining('again'),
    });
    expect([isError, JSON.stringify(content)]).toEqual([undefined, expect.stringContaining(id)]);
    await (await stage.hub.approvals.opened()).approve(id, ann);
    const again = await stage.call('echo_counter', {}, { argumentsText: '{ "a":[1,"x"], "b": 1 }' });
    expect(textOf(again)).toContain('1');
    expect(await stage.ledger()).toMatchObject([
      { outcome: 'pending', status: 'ok' },
      { outcome: 'ok', approval: id },
    ]);
  },
);

test(verifies('approvals:restart', 'an open question and an approved one survive a restart'), async () => {
  const stage = await askingStage();
  const held = stage.begin('echo_counter');
  const { id } = await question(stage.hub);
  await stage.stop();
  expect(codeOf(await held.result)).toBe('HUB_STOPPING');
  await stage.open();
  await stage.names();
  expect((await question(stage.hub)).id).toBe(id);
  await (await stage.hub.approvals.opened()).approve(id, ann);
  await stage.stop();
  await stage.open();
  await stage.names();
  expect(textOf(await stage.call('echo_counter'))).toContain('1');
  await untilState(stage.hub, id, 'spent');
});
