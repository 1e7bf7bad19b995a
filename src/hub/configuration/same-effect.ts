import { isDeepStrictEqual } from 'node:util';
import type { Judgement } from '../../trust/index.ts';

/** Whether two loads of the files give the same rights and leave the same to approve. */
export function isSameEffect(one: Judgement, other: Judgement): boolean {
  const pending = ({ pending: items }: Judgement): unknown =>
    items.map(({ item, change, declined }) => [item.hash, change, declined]);
  return isDeepStrictEqual(pending(one), pending(other)) && isDeepStrictEqual(one.configuration, other.configuration);
}
