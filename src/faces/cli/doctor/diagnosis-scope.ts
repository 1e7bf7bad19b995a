import { HubError } from '../../../base/index.ts';
import {
  type Configuration,
  type ConfiguredServer,
  packageRunner,
  placeOf,
  type ServerSpec,
} from '../../../domain/index.ts';
import { createRedactor } from '../../../vault/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { unknownServer } from '../servers/unknown-server.ts';
import { settleTrust } from '../trust/settle-trust.ts';
import { readWorkspaceTrust } from '../trust/workspace-trust.ts';

/**
 * Loads the configuration as the hub uses it, valid or not, after asking about what nobody approved. From now on its
 * secrets are masked in all output.
 */
export async function readConfiguration(
  cli: CliContext,
  { workspace, json }: Invocation,
  servers?: readonly string[],
): Promise<Configuration> {
  if (!json) await settleTrust(cli, workspace, { servers });
  const { configuration } = await readWorkspaceTrust(cli, workspace);
  cli.mask.use(createRedactor(configuration.secrets, configuration.shortSecrets));
  return configuration;
}

/** The named servers, each once, or all. */
export function pickServers(configuration: Configuration, names: readonly string[]): ConfiguredServer[] {
  if (names.length === 0) return [...configuration.servers.values()];
  return [...new Set(names)].map((name) => pickServer(configuration, name));
}

export function pickServer({ servers }: Configuration, name: string): ConfiguredServer {
  const found = servers.get(name);
  if (found !== undefined) return found;
  throw unknownServer(name, servers.keys());
}

/** A server whose configuration allows a connection; throws otherwise. */
export function readySpec(configuration: Configuration, name: string): ServerSpec {
  const fatal = configuration.problems.find((problem) => problem.fatal);
  if (fatal !== undefined) {
    throw new HubError('CONFIG_INVALID', `${placeOf(fatal)}: ${fatal.message}`, {
      ...(fatal.fix === undefined ? {} : { hint: fatal.fix }),
    });
  }
  const server = pickServer(configuration, name);
  if (server.kind === 'invalid') {
    const problem = server.problems.find(({ severity }) => severity === 'error');
    const message = problem?.message ?? `The configuration of server "${name}" is invalid.`;
    const hint = `Correct ${placeOf(problem ?? server.source)}.${problem?.fix === undefined ? '' : ` ${problem.fix}`}`;
    throw new HubError('SERVER_INVALID', message, { hint });
  }
  if (server.kind === 'untrusted') {
    throw new HubError('NOT_TRUSTED', `Server "${name}" is not trusted yet (${placeOf(server.source)}).`, {
      hint: 'Run `qm trust` to see what it would start, and approve it.',
    });
  }
  if (!server.spec.enabled) {
    throw new HubError('SERVER_DISABLED', `Server "${name}" is disabled (${placeOf(server.spec.source)}).`, {
      hint: 'Enable it first.',
    });
  }
  return server.spec;
}

/** How long a server may take to answer by default; longer if it may have to be downloaded. */
const usualMs = 15_000;
const downloadMs = 60_000;

/** How long a server may take if nobody says otherwise, in milliseconds. */
export function patienceOf(spec: ServerSpec): number {
  return packageRunner(spec) === undefined ? usualMs : downloadMs;
}

/** `--timeout SECONDS` in milliseconds. */
export function readTimeout(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readSeconds(text);
}

/** The current step, for progress output. */
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
