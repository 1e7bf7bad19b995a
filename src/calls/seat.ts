import type { SeatRequest } from '../upstream/index.ts';
import type { CallRequest } from './call.ts';

/** Which of a server's connections a call may use, where not everybody shares one. */
export function seatOf({ caller, client }: CallRequest): SeatRequest {
  return {
    agent: caller.chain.join('\0'),
    session: client?.session ?? client?.principal ?? '',
    capabilities: client?.askable.text ?? '{}',
  };
}
