import type { Withheld } from '../../domain/index.ts';
import { definitionChanged } from '../call-errors.ts';
import type { Target } from '../target.ts';
import type { CallRun } from './call-run.ts';

/**
 * The server may have listed another definition while the call waited for a connection, its turn or a person. Throws HubError
 * if the definition that the caller saw is not in force any more.
 */
export function checkDefinition({ target, dispatch }: Pick<CallRun, 'target' | 'dispatch'>): void {
  const { withheld } = dispatch;
  if (withheld !== undefined && isWithheld(withheld, target)) throw definitionChanged(target);
}

function isWithheld(withheld: Withheld, { kind, ownName }: Target): boolean {
  switch (kind) {
    case 'tool':
      return withheld.tool.has(ownName);
    case 'prompt':
      return withheld.prompt.has(ownName);
    case 'resource':
    case 'subscription':
    case 'completion':
      return withheld.isWhole;
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      // The task was begun when the definition was in force. Its result is its caller's.
      return false;
  }
}
