import { expect, test } from 'vitest';
import { eventually } from '../../support/within.ts';
import { type Matrix, type Place, rootOf } from './matrix.fixture.ts';

/**
 * Questions that servers ask while they work, and the log that they write. A server of the handshake era does not say
 * which call its question belongs to, so each client has a connection of its own to it.
 */
export function testQuestions(matrix: () => Matrix): void {
  test('a form, accepted, declined and cancelled', async () => {
    await matrix().everywhere(async (place) => {
      const { client, server, nonce, sign } = place;
      const ask = (word: string) => client.say(`${server}_ask_form`, { nonce: `${nonce}${word}` });
      expect(await Promise.all([ask(''), ask('-decline'), ask('-cancel')])).toEqual([
        `${sign}:accept:${client.name} read ${sign}:form`,
        `${sign}-decline:decline`,
        `${sign}-cancel:cancel`,
      ]);
      expect(asked(place).toSorted()).toEqual([`${sign}-cancel:form`, `${sign}-decline:form`, `${sign}:form`]);
    });
  });

  test('an address to open', async () => {
    await matrix().everywhere(async (place) => {
      const { client, server, nonce, sign } = place;
      expect(await client.say(`${server}_ask_url`, { nonce })).toBe(`${sign}:accept`);
      expect(asked(place)).toEqual([`${sign}:url https://example.com/?for=${sign}`]);
      const { cell } = matrix();
      // Only the older revisions tell when the address was opened.
      if (cell.clients !== 'legacy' || cell.servers !== 'legacy') return;
      await eventually(() => client.records.completed.includes(sign) || undefined, 'word that it was opened');
    });
    for (const { records } of [matrix().ann, matrix().bob]) expect([0, 2]).toContain(records.completed.length);
  });

  test('two questions in a row', async () => {
    await matrix().everywhere(async (place) => {
      const { client, server, nonce, sign } = place;
      const first = `${sign}:first`;
      const second = `${sign}:second after accept:${client.name} read ${first}`;
      expect(await client.say(`${server}_ask_twice`, { nonce })).toBe(`${sign}:accept:${client.name} read ${second}`);
      expect(asked(place)).toEqual([first, second]);
    });
  });

  test('a question to the model', async () => {
    await matrix().everywhere(async (place) => {
      const { client, server, nonce, sign } = place;
      const answer = await client.say(`${server}_ask_sampling`, { nonce });
      expect(answer).toBe(`${sign}:${client.name}:${client.name} read ${sign}:sampling`);
      expect(asked(place)).toEqual([`${sign}:sampling`]);
    });
  });

  test('the roots', async () => {
    await matrix().everywhere(async ({ client, server, nonce, sign }) => {
      expect(await client.say(`${server}_ask_roots`, { nonce })).toBe(`${sign}:${rootOf(matrix(), client)}`);
    });
    for (const { records } of [matrix().ann, matrix().bob]) {
      expect(records.questions.filter((message) => message === 'roots')).toHaveLength(2);
    }
  });

  test('questions that are open at the same time', async () => {
    const { ann, bob, everywhere } = matrix();
    const holding = [ann, bob].map(({ hold, records }) => {
      return { records, before: records.questions.length, release: hold() };
    });
    const answered = everywhere(async ({ client, server, nonce, sign }) => {
      const answer = await client.say(`${server}_ask_form`, { nonce });
      expect(answer).toBe(`${sign}:accept:${client.name} read ${sign}:form`);
    });
    await eventually(
      () => holding.every(({ records, before }) => records.questions.length === before + 2) || undefined,
      'two questions for each',
    );
    for (const { release } of holding.toReversed()) release();
    await answered;
  });

  test('the log, from the level that each has asked for', async () => {
    const { cell, ann, bob, everywhere } = matrix();
    // A line on a pipe does not say whose it is, so nobody is given those of a pipe that is shared.
    const isHeard = cell.servers === 'legacy' || cell.reach === 'HTTP';
    await Promise.all([ann.logFrom('notice'), bob.logFrom('error')]);
    await everywhere(async ({ client, server, nonce, sign }) => {
      expect(await client.say(`${server}_chatty`, { nonce })).toBe(sign);
      const levels = client === ann ? ['notice', 'warning', 'error'] : ['error'];
      const lines = client.records.logs.filter((line) => line.startsWith(`${sign}:`));
      expect(lines).toEqual(isHeard ? levels.map((level) => `${sign}:${level}`) : []);
    });
  });
}

function asked({ client, sign }: Place): string[] {
  return client.records.questions.filter((message) => message.startsWith(sign));
}
