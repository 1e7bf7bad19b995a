import type { ConnectionOwner } from '../upstream/index.ts';
import type { CallRequest } from './call.ts';

/** The owner of the isolated connection that a call may use. */
export function connectionOwnerOf({ caller, client }: CallRequest): ConnectionOwner {
  return {
    agent: caller.chain.join('\0'),
    session: client?.session ?? client?.principal ?? '',
    capabilities: client?.clientCapabilities.text ?? '{}',
  };
}
