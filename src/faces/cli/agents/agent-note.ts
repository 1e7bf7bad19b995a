import type { Configuration } from '../../../domain/index.ts';
import { compilePolicy, policyEntriesFor } from '../../../governance/index.ts';

/**
 * Describes what an agent that the configuration does not name will see. Undefined if it is named, or if no agent is.
 */
export function strangerNote(configuration: Configuration, agent: string): string | undefined {
  if (configuration.agents.size === 0 || policyEntriesFor(configuration, agent).length > 0) return undefined;
  const policy = compilePolicy(configuration, [agent]);
  const servers = [...configuration.servers.keys()].filter((server) => policy.seesServer(server));
  const sees = servers.length === 0 ? 'no server at all' : `only ${servers.join(', ')}`;
  const known = [...configuration.agents.keys()].slice(0, 20).join(', ');
  return `The configuration has no agent "${agent}" (it has ${known}); this agent will see ${sees}.`;
}
