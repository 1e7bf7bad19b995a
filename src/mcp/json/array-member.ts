import { membersOf } from './members.ts';
import { scanElements } from './scan-json.ts';

/** The texts of the first elements of a member that is an array, at most that many. Undefined if it is none. */
export function elementsOfMember(objectText: string, key: string, most: number): readonly string[] | undefined {
  const list = membersOf(objectText).findLast((member) => member.key === key);
  if (list === undefined || objectText[list.start] !== '[') return undefined;
  return scanElements(objectText, list.start, most).map(({ start, end }) => objectText.slice(start, end));
}
