import fc from 'fast-check';

/** Ways to cut a stream: lengths of its pieces, over and over again. */
export const cuts: fc.Arbitrary<readonly number[]> = fc.oneof(
  fc.constant([1]),
  fc.constant([Number.MAX_SAFE_INTEGER]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
);

export function cutIntoChunks(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0, index = 0; from < bytes.length; index++) {
    const length = lengths[index % lengths.length] ?? 1;
    pieces.push(bytes.subarray(from, from + length));
    from += length;
  }
  return pieces;
}
