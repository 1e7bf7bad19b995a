import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Linked, LinkedList } from './linked-list.ts';

class Guest implements Linked<Guest> {
  readonly name: number;
  list: LinkedList<Guest> | undefined;
  before: Guest | undefined;
  after: Guest | undefined;

  constructor(name: number) {
    this.name = name;
  }
}

test('the newest stand first, and whoever has left points to nobody', () => {
  const list = new LinkedList<Guest>();
  const guests = [1, 2, 3].map((name) => new Guest(name));
  for (const guest of guests) list.add(guest);
  const middle = guests[1] as Guest; // there are three
  expect([...list].map(({ name }) => name)).toEqual([3, 2, 1]);
  expect(list.delete(middle)).toBe(true);
  expect(list.delete(middle)).toBe(false);
  expect(middle).toEqual({ name: 2, list: undefined, before: undefined, after: undefined });
  expect([...list].map(({ name }) => name)).toEqual([3, 1]);
  expect(list.size).toBe(2);
});

test('a member of one list is none of another', () => {
  const [one, other] = [new LinkedList<Guest>(), new LinkedList<Guest>()];
  const guest = new Guest(1);
  one.add(guest);
  expect(() => other.add(guest)).toThrow('on a list already');
  expect(other.delete(guest)).toBe(false);
  expect([one.size, other.size]).toEqual([1, 0]);
});

test('those that leave while others are looked at are still shown', () => {
  const list = new LinkedList<Guest>();
  for (const name of [1, 2, 3]) list.add(new Guest(name));
  const seen: number[] = [];
  for (const guest of list) {
    seen.push(guest.name);
    for (const each of list) list.delete(each);
  }
  expect(seen).toEqual([3, 2, 1]);
  expect([...list]).toEqual([]);
});

test('property: it holds what a set would', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (steps) => {
      const list = new LinkedList<Guest>();
      const guests = Array.from({ length: 10 }, (_, name) => new Guest(name));
      const expected = new Set<Guest>();
      for (const step of steps) {
        const guest = guests[step] as Guest; // there are ten
        const left = expected.delete(guest);
        expect(list.delete(guest)).toBe(left);
        if (!left) {
          expected.add(guest);
          list.add(guest);
        }
        expect(list.find(({ name }) => name === step)).toBe(expected.has(guest) ? guest : undefined);
      }
      expect([...list].toReversed()).toEqual([...expected]);
      expect(list.size).toBe(expected.size);
    }),
  );
});
