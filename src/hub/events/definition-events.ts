import type { ServerDefinitions } from '../../upstream/index.ts';
import type { EmitEvent } from './event-emitter.ts';

/** Emits an event when the differences of a server's definitions from the accepted ones change. */
export type NoteDefinitions = (server: string, definitions: ServerDefinitions | undefined) => void;

/** Enough to see what happened. `GET /api/definitions` has all. */
const mostChanges = 20;

export function createDefinitionEvents(emit: EmitEvent): NoteDefinitions {
  /** As text. */
  const differences = new Map<string, string>();
  return (server, definitions) => {
    const changes = definitions?.changes ?? [];
    const withheld = definitions?.lock?.mode === 'enforce';
    const text = changes.length === 0 ? '' : JSON.stringify([withheld, changes]);
    if (text === (differences.get(server) ?? '')) return;
    if (text === '') differences.delete(server);
    else differences.set(server, text);
    const shown = changes.slice(0, mostChanges);
    emit({ type: 'definition.changed', server, changes: shown, count: changes.length, withheld });
  };
}
