import { HubError } from '../../base/index.ts';
import { type Decision, type Fleet, placeOf } from '../../domain/index.ts';
import { describeDecision, splitToolName } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';

/** A tool of a configured server, as the operator named it. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
}

/** Cuts `server.tool`, or the name that agents see; throws when no server of that name is configured. */
export function readToolName(text: string, fleet: Fleet): NamedTool {
  const named = splitToolName(text, fleet.servers) ?? splitExposedName(text, fleet);
  if (named !== undefined) return named;
  const names = [...fleet.servers.keys()];
  const known = names.length === 0 ? 'No server is configured.' : `Configured are ${names.slice(0, 20).join(', ')}.`;
  throw new HubError('SERVER_UNKNOWN', `"${text.slice(0, 120)}" does not name a configured server.`, {
    hint: `Write SERVER.TOOL. ${known}`,
  });
}

/** `server_tool` as agents see it; the longest server name wins. */
function splitExposedName(text: string, fleet: Fleet): NamedTool | undefined {
  const [server] = [...fleet.servers.keys()]
    .filter((name) => text.startsWith(`${name}_`) && text.length > name.length + 1)
    .sort((a, b) => b.length - a.length);
  return server === undefined ? undefined : { server, tool: text.slice(server.length + 1) };
}

export type Verdict =
  | { readonly kind: 'decided'; readonly decision: Decision }
  /** The server itself stands in the way, whatever the rules say. */
  | { readonly kind: 'invalid' | 'disabled'; readonly file: string; readonly line?: number; readonly message: string };

/** What the configuration says of an agent and a tool. */
export function judge(hub: Hub, agent: string, { server, tool }: NamedTool): Verdict {
  const entry = hub.fleet.servers.get(server);
  if (entry?.kind === 'invalid') {
    const message = `server ${server} is invalid: ${entry.problems[0]?.message ?? 'see `qm ls`'}`;
    return { kind: 'invalid', ...entry.source, message };
  }
  if (entry?.kind === 'ready' && !entry.spec.enabled) {
    return {
      kind: 'disabled',
      ...(entry.spec.disabledBy ?? entry.spec.source),
      message: `server ${server} is switched off`,
    };
  }
  return { kind: 'decided', decision: hub.explain([agent], server, tool) };
}

export function sayVerdict(verdict: Verdict, { server, tool }: NamedTool): string {
  if (verdict.kind === 'decided') return describeDecision(verdict.decision, server, tool);
  return `${server}.${tool} cannot be called: ${verdict.message.replace(/\.$/, '')} (${placeOf(verdict)}).`;
}

/** Why an agent got "unknown tool", in full, for the operator. */
export function whyUnknown(hub: Hub, agent: string, text: string): HubError {
  const name = readToolName(text, hub.fleet);
  const { server, tool } = name;
  const verdict = judge(hub, agent, name);
  const details = { server, tool };
  if (verdict.kind !== 'decided') {
    const code = verdict.kind === 'invalid' ? 'SERVER_INVALID' : 'SERVER_DISABLED';
    return new HubError(code, sayVerdict(verdict, name), { details });
  }
  if (verdict.decision.effect === 'deny') {
    return new HubError('POLICY_DENIED', sayVerdict(verdict, name), {
      hint: `\`qm tools --agent ${agent}\` lists what it has.`,
      details,
    });
  }
  return awayOrMissing(hub, agent, name);
}

/** The rules allow it, so either nobody could ask the server or the server has no such tool. */
function awayOrMissing(hub: Hub, agent: string, { server, tool }: NamedTool): HubError {
  const status = hub.status().find((each) => each.name === server);
  const details = { server, tool };
  if (status?.tools === undefined) {
    const hint = `Nothing was sent. \`qm ls\` shows the server's state.`;
    const message = status?.error ?? `Server "${server}" has not told its tools in time.`;
    if (status?.state === 'needs-login')
      return new HubError('UPSTREAM_NEEDS_LOGIN', message, { hint: loginHint, details });
    if (status?.state === 'forbidden') return new HubError('UPSTREAM_FORBIDDEN', message, { hint, details });
    return new HubError('UPSTREAM_UNAVAILABLE', message, { hint, details });
  }
  const others = [...hub.views.of([agent]).entries.values()]
    .filter((entry) => entry.server === server)
    .map((entry) => entry.tool.name);
  const some = others.length > 12 ? `${others.slice(0, 12).join(', ')} …` : others.join(', ');
  return new HubError('USAGE', `Server "${server}" has no tool "${tool}".`, {
    hint: others.length === 0 ? 'It has none that this agent sees.' : `Agent ${agent} has ${some}.`,
    details,
  });
}

const loginHint = "Set its token in the server's headers.";
