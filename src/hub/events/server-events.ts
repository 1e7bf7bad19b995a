import type { Catalog, ServerState, ServerStatus } from '../../domain/index.ts';
import type { EmitEvent } from './event-emitter.ts';

/** Emits an event when the state or the lists of a server change. */
export interface ServerEvents {
  noteState(status: ServerStatus): void;
  noteCatalog(server: string, catalog: Catalog | undefined): void;
  /** Takes the servers of the configuration. The first ones emit no event. */
  adopt(servers: readonly ServerStatus[]): void;
}

export function createServerEvents(emit: EmitEvent): ServerEvents {
  let states: Map<string, ServerState> | undefined;

  function noteState({ name: server, state, error, retryAt, attempt }: ServerStatus): void {
    const previous = states?.get(server);
    if (state === previous) return;
    states?.set(server, state);
    emit({
      type: 'server.state',
      server,
      state,
      ...(previous === undefined ? {} : { previous }),
      ...(error === undefined ? {} : { error }),
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(attempt === undefined ? {} : { attempt }),
    });
  }

  return {
    noteState,
    noteCatalog(server, catalog) {
      if (catalog === undefined) {
        emit({ type: 'catalog.changed', server });
        return;
      }
      const { tools, resources, templates, prompts } = catalog;
      const count = {
        tools: tools.length,
        resources: resources.length,
        templates: templates.length,
        prompts: prompts.length,
      };
      emit({ type: 'catalog.changed', server, count });
    },
    adopt(servers) {
      if (states === undefined) {
        states = new Map(servers.map(({ name, state }) => [name, state]));
        return;
      }
      const names = new Set(servers.map(({ name }) => name));
      for (const server of states.keys()) {
        if (names.has(server)) continue;
        states.delete(server);
        emit({ type: 'server.removed', server });
      }
      for (const status of servers) noteState(status);
    },
  };
}
