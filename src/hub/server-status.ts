import { type ConfiguredServer, placeOf, type ServerSpec, type ServerStatus, worstProblem } from '../domain/index.ts';
import type { UpstreamHandles } from '../upstream/index.ts';

/** The status of a configured server: its own if it is running, otherwise why it is not. */
export function serverStatus(server: ConfiguredServer, upstreams: ReadonlyMap<string, UpstreamHandles>): ServerStatus {
  const nothing = { protocolVersion: undefined, tools: undefined, retryAt: undefined, attempt: undefined };
  if (server.kind === 'invalid') {
    return {
      ...nothing,
      name: server.name,
      state: 'invalid',
      transport: undefined,
      source: placeOf(server.source),
      hides: server.hides.map(placeOf),
      description: undefined,
      error: worstProblem(server.problems)?.message,
    };
  }
  if (server.kind === 'untrusted') {
    const { name, transport, source, hides, description } = server;
    const places = { source: placeOf(source), hides: hides.map(placeOf) };
    return { ...nothing, ...places, name, state: 'untrusted', transport, description, error: undefined };
  }
  const { spec } = server;
  const running = upstreams.get(spec.name);
  if (running !== undefined) return running.control.status();
  return {
    ...nothing,
    name: spec.name,
    state: 'disabled',
    transport: spec.transport.type,
    source: placeOf(spec.source),
    hides: spec.hides.map(placeOf),
    description: spec.description,
    error: switchedOffBy(spec),
  };
}

/** Names the file that disabled the server, if that is not the entry's own file. */
function switchedOffBy({ disabledBy }: ServerSpec): string | undefined {
  return disabledBy === undefined ? undefined : `Disabled in ${placeOf(disabledBy)}.`;
}
