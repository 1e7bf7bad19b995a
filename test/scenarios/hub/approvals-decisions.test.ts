import { expect, test } from 'vitest';
import { codeOf, textOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { ann, askingConfig, askingStage, bob, openQuestions, question, untilState } from './approvals.fixture.ts';

test(verifies('approvals:denied', 'the agent reads why, and an equal call is refused at once'), async () => {
  const stage = await askingStage();
  const held = stage.begin('echo_counter');
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  await approvals.deny(id, ann, { reason: 'not on a Friday' });
  const result = await held.result;
  expect(result).toMatchObject({
    error: { code: 'POLICY_DENIED', message: expect.stringMatching(/ann.*not on a Friday/) },
  });
  expect(codeOf(await stage.call('echo_counter'))).toBe('POLICY_DENIED');
  expect(await stage.ledger()).toMatchObject([{ outcome: 'denied', transport: null }, { outcome: 'denied' }]);
  stage.clock.advance(3_600_001);
  stage.begin('echo_counter').result.catch(() => {});
  expect((await question(stage.hub)).id).not.toBe(id);
});

test(verifies('approvals:denied', 'a suggested call is approved, once'), async () => {
  const stage = await askingStage({ approvals: { wait: '1s' } });
  const held = stage.begin('echo_counter', { n: 100 });
  const { id } = await question(stage.hub);
  await (await stage.hub.approvals.opened()).deny(id, ann, { suggestion: '{"n":1}' });
  expect(await held.result).toMatchObject({ error: { hint: expect.stringContaining('{"n":1}') } });
  expect(textOf(await stage.call('echo_counter', { n: 1 }))).toContain('1');
  const again = await stage.hurry(stage.call('echo_counter', { n: 1 }));
  expect(again).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
});

test(
  verifies('approvals:denied', 'who looks and decides nothing is recorded, and the question stays open'),
  async () => {
    const stage = await askingStage();
    stage.begin('echo_counter').result.catch(() => {});
    const { id } = await question(stage.hub);
    const approvals = await stage.hub.approvals.opened();
    await approvals.notNow(id, bob);
    expect(approvals.get(id)).toMatchObject({ state: { kind: 'open' }, seen: [{ by: bob }] });
  },
);

test(verifies('approvals:expired', 'a question that nobody answers ends, and the next call asks again'), async () => {
  const stage = await askingStage({ approvals: { expires: '10m', wait: '1h' } });
  const held = stage.begin('echo_counter');
  const { id } = await question(stage.hub);
  stage.clock.advance(600_001);
  const result = await held.result;
  expect(result).toMatchObject({ error: { code: 'APPROVAL_REQUIRED', hint: expect.stringContaining('again to ask') } });
  await untilState(stage.hub, id, 'expired');
  const approvals = await stage.hub.approvals.opened();
  await expect(approvals.approve(id, ann)).rejects.toMatchObject({ code: 'APPROVAL_DECIDED' });
  stage.begin('echo_counter').result.catch(() => {});
  const next = await question(stage.hub);
  await approvals.approve(next.id, ann);
  await untilState(stage.hub, next.id, 'spent');
});

test(verifies('approvals:expired', 'an approved call that comes too late asks again'), async () => {
  const stage = await askingStage({ approvals: { wait: '1s' } });
  await stage.hurry(stage.call('echo_counter'));
  const { id } = await question(stage.hub);
  await (await stage.hub.approvals.opened()).approve(id, ann);
  stage.clock.advance(3_600_001);
  const late = await stage.hurry(stage.call('echo_counter'));
  expect(late).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
  expect((await question(stage.hub)).id).not.toBe(id);
});

test(
  verifies('approvals:pending', 'a call that its client cancels leaves the question open for the next one'),
  async () => {
    const stage = await askingStage();
    const held = stage.begin('echo_counter');
    const { id } = await question(stage.hub);
    held.call.cancel('enough');
    expect(codeOf(await held.result)).toBe('CANCELLED');
    const again = stage.begin('echo_counter');
    await eventually(() => again.call.state === 'held' || undefined, 'the call to be held');
    await (await stage.hub.approvals.opened()).approve(id, ann);
    expect(textOf(await again.result)).toContain('1');
  },
);

test(verifies('approvals:held', 'a client that takes progress is told what its call waits for'), async () => {
  const stage = await askingStage();
  const progress: unknown[] = [];
  const held = stage.begin('echo_counter', {}, { onProgress: (params) => progress.push(params) });
  const { id } = await question(stage.hub);
  stage.clock.advance(5_000);
  await eventually(() => progress.length >= 2 || undefined, 'two reports');
  expect(progress[0]).toMatchObject({ message: expect.stringContaining(id) });
  const values = progress.map((params) => (params as { progress: number }).progress); // as the protocol says
  expect(values).toEqual([...values].sort());
  await (await stage.hub.approvals.opened()).approve(id, ann);
  await held.result;
  const before = progress.length;
  stage.clock.advance(60_000);
  expect(progress).toHaveLength(before);
});

test(
  verifies('approvals:grants', 'a grant for calls is used up, counted on disk, and covers other arguments'),
  async () => {
    const stage = await askingStage({ approvals: { wait: '1s' } });
    const held = stage.begin('echo_counter', { n: 1 });
    const { id } = await question(stage.hub);
    const { grant } = await (await stage.hub.approvals.opened()).approve(id, ann, {
      run: false,
      maxCalls: 2,
      sameArguments: false,
    });
    expect(textOf(await held.result)).toContain('1');
    await stage.stop();
    await stage.open();
    await stage.names();
    const approvals = await stage.hub.approvals.opened();
    expect(approvals.grants()).toMatchObject([{ id: grant?.id, used: 1 }]);
    await stage.say('echo_counter', { n: 2 });
    expect(await stage.ledger()).toMatchObject([{ approval: grant?.id }, { approval: grant?.id }]);
    const third = await stage.hurry(stage.call('echo_counter', { n: 3 }));
    expect(third).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
    expect(approvals.grants()).toEqual([]);
  },
);

test(
  verifies('approvals:grants', 'a grant for a run or for some arguments covers nothing else, and can be revoked'),
  async () => {
    const stage = await askingStage({ approvals: { wait: '1s' } });
    const { hub } = stage;
    const approvals = await hub.approvals.opened();
    const call = (run: string, args: object) => {
      const argumentsText = JSON.stringify(args);
      const caller = hub.callerFor({ agent: 'tester', run });
      const request = {
        kind: 'tool',
        caller,
        name: 'echo_counter',
        argumentsText,
        args,
        meta: '',
        channel: undefined,
      } as const;
      return stage.hurry(hub.call(request).result);
    };
    const first = call('r1', { n: 1 });
    const { id } = await question(hub);
    const { grant } = await approvals.approve(id, ann, { run: true, sameArguments: true });
    textOf(await first);
    textOf(await call('r1', { n: 1 }));
    const pending = { result: { value: { structuredContent: { status: 'pending-approval' } } } };
    expect(await call('r2', { n: 1 })).toMatchObject(pending);
    expect(await call('r1', { n: 2 })).toMatchObject(pending);
    await approvals.revoke(grant?.id ?? '', bob);
    expect(await call('r1', { n: 1 })).toMatchObject(pending);
    await expect(approvals.revoke(grant?.id ?? '', bob)).rejects.toMatchObject({
      code: expect.stringMatching(/^APPROVAL_/),
    });
  },
);

test(verifies('approvals:limits', 'an agent opens ten questions, and others still can'), async () => {
  const stage = await askingStage({ approvals: { wait: '1s' } });
  const results = await stage.hurry(
    Promise.all(Array.from({ length: 30 }, (_, n) => stage.call('echo_counter', { n }))),
  );
  expect(results.filter((result) => codeOf(result) === 'OVERLOADED')).toHaveLength(20);
  await openQuestions(stage.hub, 10);
  const other = await stage.hurry(stage.call('echo_counter', {}, { agent: 'other' }));
  expect(other).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
});

test(verifies('approvals:limits', 'arguments that nobody can judge are refused'), async () => {
  const stage = await askingStage();
  const result = await stage.call('echo_counter', { text: 'x'.repeat(10 * 1024 * 1024) });
  expect(codeOf(result)).toBe('REQUEST_TOO_LARGE');
  await openQuestions(stage.hub, 0);
});

test(
  verifies('approvals:limits', 'of a thousand equal calls few wait, one question is open, and one runs'),
  async () => {
    const stage = await askingStage();
    const calls = Array.from({ length: 1000 }, () => stage.begin('echo_counter'));
    const { id } = await question(stage.hub);
    const answers = await Promise.all(calls.map(({ result }) => Promise.race([result, Promise.resolve(undefined)])));
    expect(answers.length).toBe(1000);
    await eventually(() => stage.hub.callsInFlight <= 32 || undefined, 'most calls to be answered');
    await (await stage.hub.approvals.opened()).approve(id, ann);
    await untilState(stage.hub, id, 'spent');
    expect((await stage.ledger()).filter(({ outcome }) => outcome === 'ok')).toHaveLength(1);
  },
);

test(verifies('approvals:deciders', 'four eyes, named approvers and the page are enforced'), async () => {
  const stage = await askingStage({ approvals: { four_eyes: true } });
  stage.begin('echo_counter').result.catch(() => {});
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  const asker = { name: 'operator', via: 'terminal' } as const;
  await expect(approvals.approve(id, asker)).rejects.toMatchObject({ code: 'APPROVAL_NOT_YOURS' });
  await expect(approvals.deny(id, asker, { suggestion: '{}' })).rejects.toMatchObject({ code: 'APPROVAL_NOT_YOURS' });
  await expect(approvals.approve(id, { name: 'admin-token', via: 'api' })).rejects.toMatchObject({
    code: 'APPROVAL_NOT_YOURS',
  });
  expect((await approvals.approve(id, ann)).approval.state).toMatchObject({ kind: 'approved', by: ann });

  const named = { effect: 'require-approval', approvers: ['bob'] };
  await stage.start({
    ...askingConfig(),
    policies: { tools: { 'echo.*': named } },
    approvals: { require: 'page' },
  });
  await stage.names();
  stage.begin('echo_counter', { n: 2 }).result.catch(() => {});
  const second = await question(stage.hub);
  const next = await stage.hub.approvals.opened();
  await expect(next.approve(second.id, bob)).rejects.toThrow(/page/);
  await expect(next.approve(second.id, { name: 'ann', via: 'page' })).rejects.toThrow(/bob/);
  await next.approve(second.id, { name: 'bob', via: 'page' });
});

test(verifies('approvals:told', 'events, metrics and the chain tell of decisions, without arguments'), async () => {
  const stage = await askingStage();
  const events: unknown[] = [];
  stage.hub.onEvent((event) => event.type.startsWith('approval.') && events.push(event));
  const held = stage.begin('echo_counter', { text: 'between-us' });
  const { id } = await question(stage.hub);
  await (await stage.hub.approvals.opened()).approve(id, ann);
  await held.result;
  await untilState(stage.hub, id, 'spent');
  const types = events.map((event) => (event as { type: string }).type); // every event has a type
  expect(types).toEqual(['approval.opened', 'approval.decided', 'approval.claimed', 'approval.closed']);
  expect(events[1]).toMatchObject({ id, agent: 'tester', server: 'echo', tool: 'counter', by: 'ann' });
  expect(JSON.stringify(events)).not.toContain('between-us');
  expect(stage.hub.approvals.numbers).toMatchObject({ open: 0, decided: { approved: 1 } });
});
