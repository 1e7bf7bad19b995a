import type { RequirementId } from '../requirements.ts';

/** Names a test that verifies a requirement: `test(verifies('journal:before-send', 'a call is …'), …)`. */
export function verifies(id: RequirementId, name: string): string {
  return `${name} [${id}]`;
}
