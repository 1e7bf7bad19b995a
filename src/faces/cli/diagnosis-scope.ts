import { HubError } from '../../base/index.ts';
import { didYouMean, loadFleet } from '../../config/index.ts';
import { type Fleet, type FleetServer, packageRunner, placeOf, type ServerSpec } from '../../domain/index.ts';
import { createRedactor } from '../../vault/index.ts';
import type { CliContext } from './context.ts';
import type { Invocation } from './global-options.ts';

/** What is configured, whole or not; its secrets are hidden from everything that is printed from now on. */
export async function readFleet({ env, mask }: CliContext, { workspace }: Invocation): Promise<Fleet> {
  const fleet = await loadFleet({ env }, { workspace });
  mask.use(createRedactor(fleet.secrets, fleet.shortSecrets));
  return fleet;
}

/** Those named, each once, or all. */
export function pickServers(fleet: Fleet, names: readonly string[]): FleetServer[] {
  if (names.length === 0) return [...fleet.servers.values()];
  return [...new Set(names)].map((name) => pickServer(fleet, name));
}

export function pickServer({ servers }: Fleet, name: string): FleetServer {
  const found = servers.get(name);
  if (found !== undefined) return found;
  const known = [...servers.keys()];
  const meant = didYouMean(name, known);
  const all = known.length === 0 ? 'None is.' : `Configured are ${known.slice(0, 20).join(', ')}.`;
  throw new HubError('SERVER_UNKNOWN', `No server "${name.slice(0, 80)}" is configured.`, {
    hint: meant === undefined ? all : `Did you mean ${meant}?`,
  });
}

/** A server that can be connected to, as far as its configuration goes. */
export function readySpec(fleet: Fleet, name: string): ServerSpec {
  const fatal = fleet.problems.find((problem) => problem.fatal);
  if (fatal !== undefined) {
    throw new HubError('CONFIG_INVALID', `${placeOf(fatal)}: ${fatal.message}`, {
      ...(fatal.fix === undefined ? {} : { hint: fatal.fix }),
    });
  }
  const server = pickServer(fleet, name);
  if (server.kind === 'invalid') {
    const problem = server.problems.find(({ severity }) => severity === 'error');
    const message = problem?.message ?? `The configuration of server "${name}" is invalid.`;
    const hint = `Correct ${placeOf(problem ?? server.source)}.${problem?.fix === undefined ? '' : ` ${problem.fix}`}`;
    throw new HubError('SERVER_INVALID', message, { hint });
  }
  if (!server.spec.enabled) {
    throw new HubError('SERVER_DISABLED', `Server "${name}" is switched off (${placeOf(server.spec.source)}).`, {
      hint: 'Switch it on first.',
    });
  }
  return server.spec;
}

/** How long a server may take to answer unless somebody says otherwise; longer where it may have to be downloaded. */
const usualMs = 15_000;
const downloadMs = 60_000;

/** `--timeout SECONDS` in milliseconds, for each server. */
export function readPatience(text: string | undefined): (spec: ServerSpec) => number {
  if (text === undefined) return (spec) => (packageRunner(spec) === undefined ? usualMs : downloadMs);
  const timeoutMs = readSeconds(text);
  return () => timeoutMs;
}

/** What is being done, for whoever watches. */
export function startingText(spec: ServerSpec): string {
  const runner = packageRunner(spec);
  return runner === undefined ? `trying ${spec.transport.type}` : `starting with ${runner}, downloading if needed`;
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,4}(\.\d+)?s?$/.test(text) ? Number.parseFloat(text) : 0;
  if (seconds > 0 && seconds <= 3600) return seconds * 1000;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a number of seconds.`, {
    hint: 'Write --timeout 15; from above 0 to 3600.',
  });
}
