import { HubError, wordsMeant } from '../../../base/index.ts';
import { type Configuration, type ConfiguredServer, placeOf, type ServerSpec } from '../../../domain/index.ts';
import { agentNames } from '../agents/agent-names.ts';
import { strangerNote } from '../agents/agent-note.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { refuseBrokenFile } from '../servers/config-change.ts';
import { pendingTitle } from '../trust/pending-lines.ts';
import { settleTrust } from '../trust/settle-trust.ts';
import { canAsk } from '../trust/trust-prompt.ts';
import { readWorkspaceTrust } from '../trust/workspace-trust.ts';

export interface ServedOptions {
  readonly agent: string;
  /** The client, for messages. */
  readonly title: string;
  /** The operator approves everything that is on disk. */
  readonly trust: boolean | undefined;
}

export interface Served {
  /** The servers that the hub serves. */
  readonly servers: ReadonlySet<string>;
  /** Why it does not serve the others, by name. */
  readonly unserved: ReadonlyMap<string, string>;
  /** Variables that they have from the environment of this command. */
  readonly variables: readonly string[];
}

/** What the hub serves, after asking about what nobody approved. Throws if the agent would get nothing. */
export async function readServed(
  cli: CliContext,
  { workspace, json }: Invocation,
  { agent, title, trust }: ServedOptions,
): Promise<Served> {
  // A mistyped name is said before anything is asked or approved.
  checkKnown(cli, (await readWorkspaceTrust(cli, workspace)).loaded.configuration, agent);
  if (trust === true || !json) await settleTrust(cli, workspace, { trustAll: trust });
  const { configuration, loaded, pending } = await readWorkspaceTrust(cli, workspace);
  refuseBrokenFile(loaded.configuration);
  const waiting = pending.filter(({ declined }) => !declined);
  if (waiting.length > 0 && (!canAsk(cli) || json)) {
    throw new HubError('NOT_TRUSTED', pendingTitle(waiting), {
      hint: `Review ${waiting.length === 1 ? 'it' : 'them'} with \`qm trust --show\`. \`qm connect --trust\` approves what is on disk now.`,
    });
  }
  if (configuration.servers.size === 0) {
    throw new HubError('USAGE', `No server is configured in ${workspace}, so ${title} would get no tools.`, {
      hint: 'Add one with `qm add`, or name another folder with --workspace.',
    });
  }
  const servers = servedBy(configuration).map(({ name }) => name);
  const variables = configuration.environment.filter((name) => cli.env[name] !== undefined && !usual.has(name));
  return { servers: new Set(servers), unserved: unservedBy(configuration), variables };
}

/** The servers that a hub with this configuration serves. */
export function servedBy({ servers }: Configuration): readonly ServerSpec[] {
  return [...servers.values()].flatMap((server) =>
    server.kind === 'ready' && server.spec.enabled ? [server.spec] : [],
  );
}

/** Why it does not serve the others, by name, as half a sentence. */
export function unservedBy({ servers }: Configuration): ReadonlyMap<string, string> {
  return new Map(
    [...servers].flatMap(([name, server]): [string, string][] => {
      const why = whyUnserved(name, server);
      return why === undefined ? [] : [[name, why]];
    }),
  );
}

function whyUnserved(name: string, server: ConfiguredServer): string | undefined {
  switch (server.kind) {
    case 'ready': {
      const { enabled, disabledBy, source } = server.spec;
      return enabled ? undefined : `it is disabled in ${placeOf(disabledBy ?? source)}`;
    }
    case 'invalid':
      return `its configuration is invalid (\`qm doctor ${name}\` shows why)`;
    case 'untrusted':
      return server.declined ? 'you declined it' : `nobody approved it (\`qm trust ${name}\`)`;
  }
}

/** Every program has these. */
const usual: ReadonlySet<string> = new Set(['HOME', 'PATH', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TMPDIR', 'PWD']);

/** An agent that the configuration does not name may still have shared servers. */
function checkKnown({ terminal }: CliContext, configuration: Configuration, agent: string): void {
  const note = strangerNote(configuration, agent);
  if (note === undefined) return;
  const meant = wordsMeant(agent, [...configuration.agents.keys(), ...configuration.roles.keys()]);
  const shared = [...configuration.servers.values()].some(
    (server) => server.kind === 'ready' && server.spec.enabled && server.spec.shared,
  );
  if (meant === undefined && shared) {
    terminal.err(`${terminal.errColours.yellow('warning')} ${note}`);
    return;
  }
  throw new HubError('USAGE', `No agent "${agent}" is configured.`, {
    hint:
      meant === undefined
        ? `Configured agents: ${agentNames(configuration).slice(0, 20).join(', ')}.`
        : `Did you mean ${meant}?`,
  });
}
