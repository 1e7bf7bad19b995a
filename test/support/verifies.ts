import type { RequirementId } from '../requirements.ts';

/** The name of a test that shows a promise kept: `test(verifies('journal:before-send', 'a call is …'), …)`. */
export function verifies(id: RequirementId, name: string): string {
  return `${name} [${id}]`;
}
