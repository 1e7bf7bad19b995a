import { HubError } from '../../base/index.ts';
import type { Request } from './operations.ts';

/** The only protocol version with batches. */
export const batchVersion = '2025-03-26';

export function methodNotFound({ method }: Request): HubError {
  return new HubError('METHOD_NOT_FOUND', `Method not found: ${method.slice(0, 200)}`);
}

export function invalidMessage(reason: string): HubError {
  return new HubError('INVALID_REQUEST', `Not a JSON-RPC message: ${reason}.`);
}
