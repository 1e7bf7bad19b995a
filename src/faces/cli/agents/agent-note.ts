import { wordsMeant } from '../../../base/index.ts';
import type { Configuration } from '../../../domain/index.ts';
import { compilePolicy, policyEntriesFor } from '../../../governance/index.ts';
import { agentNames } from './agent-names.ts';

/**
 * Describes what an agent that the configuration does not name will see. Undefined if it is named, or if no agent is.
 */
export function strangerNote(configuration: Configuration, agent: string): string | undefined {
  if (configuration.agents.size === 0 || policyEntriesFor(configuration, agent).length > 0) return undefined;
  const policy = compilePolicy(configuration, [agent]);
  const servers = [...configuration.servers.keys()].filter((server) => policy.seesServer(server));
  const sees = servers.length === 0 ? 'no server at all' : `only ${servers.join(', ')}`;
  const names = [...configuration.agents.keys(), ...configuration.roles.keys()];
  const meant = wordsMeant(agent, names);
  const known = meant === undefined ? ` (it has ${agentNames(configuration).slice(0, 20).join(', ')})` : '';
  const note = `The configuration has no agent "${agent}"${known}; this agent will see ${sees}.`;
  return meant === undefined ? note : `${note} Did you mean ${meant}?`;
}
