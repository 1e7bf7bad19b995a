import type { Readable, Writable } from 'node:stream';
import type { BuiltinOrder, Builtins } from '../../hub/index.ts';
import type { Serving } from '../serving/index.ts';
import type { BuiltinDeps } from './builtin-kind.ts';

/** The built-in servers, run inside the hub. */
export function createBuiltins(): Builtins {
  return {
    async open(order, deps) {
      const { hostBuiltin } = await import('./host.ts');
      return hostBuiltin(order, deps);
    },
  };
}

export interface BuiltinPipes {
  readonly input: Readable;
  readonly output: Writable;
}

/** Serves one built-in over a pair of pipes. */
export async function serveBuiltin(order: BuiltinOrder, deps: BuiltinDeps & BuiltinPipes): Promise<Serving> {
  const { serveKind } = await import('./host.ts');
  return serveKind(order, deps);
}
