import type { Fleet } from '../../domain/index.ts';
import { compilePolicy, speakersFor } from '../../governance/index.ts';

/** What an agent that the configuration does not name will have; undefined when it is named or nobody is. */
export function strangerNote(fleet: Fleet, agent: string): string | undefined {
  if (fleet.agents.size === 0 || speakersFor(fleet, agent).length > 0) return undefined;
  const policy = compilePolicy(fleet, [agent]);
  const servers = [...fleet.servers.keys()].filter((server) => policy.seesServer(server));
  const sees = servers.length === 0 ? 'no server at all' : `only ${servers.join(', ')}`;
  const known = [...fleet.agents.keys()].slice(0, 20).join(', ');
  return `The configuration does not name agent "${agent}" (it names ${known}); it will see ${sees}.`;
}
