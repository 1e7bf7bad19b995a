import { type ConfiguredServer, type LockMode, noPins, type ServerLock } from '../../domain/index.ts';
import type { ReadSource } from '../assemble-configuration.ts';
import type { LockedServer } from './lockfile.ts';

/**
 * Tells each server which definitions are accepted. With a lockfile, a server that is not in it has no accepted ones; the same
 * holds where `lock: enforce` is set and the file is missing.
 */
export function applyLock(
  servers: Map<string, ConfiguredServer>,
  readSources: readonly ReadSource[],
  mode: LockMode | undefined,
): void {
  const lockfile = readSources.find(({ content }) => content.lock !== undefined)?.content.lock;
  if (lockfile === undefined && mode !== 'enforce') return;
  for (const [name, server] of servers) {
    if (server.kind !== 'ready') continue;
    const { acknowledged, ...pins } = lockfile?.get(name) ?? nothingLocked;
    const lock: ServerLock = { mode: mode ?? 'enforce', pins, acknowledged };
    servers.set(name, { ...server, spec: { ...server.spec, lock } });
  }
}

const nothingLocked: LockedServer = { ...noPins, acknowledged: new Map() };
