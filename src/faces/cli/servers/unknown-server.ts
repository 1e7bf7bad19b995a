import { HubError } from '../../../base/index.ts';
import { nameHint } from '../name-hint.ts';

/** A name that no configured server has. */
export function unknownServer(name: string, known: Iterable<string>): HubError {
  return new HubError('SERVER_UNKNOWN', `No server "${name.slice(0, 80)}" is configured.`, {
    hint: nameHint(name, [...known], {
      some: 'Configured servers',
      none: 'None is configured here; `qm add` adds one.',
    }),
  });
}
