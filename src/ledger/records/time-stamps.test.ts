import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TimeStamps } from './time-stamps.ts';

test('property: every time is printed as a date prints it, whatever came before', () => {
  const near = fc.integer({ min: 1_790_000_000_000, max: 1_790_000_003_000 });
  const any = fc.double({ min: -1e14, max: 1e14, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.oneof(near, any), { minLength: 1 }), (times) => {
      const stamps = new TimeStamps();
      for (const time of times) expect(stamps.text(time)).toBe(new Date(Math.floor(time)).toISOString());
    }),
  );
});
