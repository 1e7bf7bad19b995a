import { didYouMean, HubError } from '../../../base/index.ts';
import type { AgentToolEntry } from '../../../calls/index.ts';
import { type Configuration, type Decision, placeOf, worstProblem } from '../../../domain/index.ts';
import { describeDecision, splitsOfToolName, triedConfiguration } from '../../../governance/index.ts';
import type { ExplainedCall, Hub } from '../../../hub/index.ts';
import type { Explanation } from '../json-shapes.ts';
import { nameHint } from '../name-hint.ts';
import { strangerNote } from './agent-note.ts';

/** A tool of a configured server, as the operator named it. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
}

/** Splits `server.tool`, or the name that agents see. Throws if no server of that name is configured. */
export function readToolName(text: string, hub: Pick<Hub, 'configuration' | 'catalogs'>): NamedTool {
  const { configuration } = hub;
  const isOn = ({ server }: NamedTool): boolean => {
    const entry = configuration.servers.get(server);
    return entry?.kind === 'ready' && entry.spec.enabled;
  };
  const splits = splitsOfToolName(text, configuration.servers);
  // If the name fits several servers, prefer one that can be called.
  const named = splits.find(isOn) ?? splits[0] ?? splitExposedName(text, configuration);
  if (named !== undefined) return named;
  const owner = [...hub.catalogs()].find(([, { tools }]) => tools.some(({ name }) => name === text))?.[0];
  throw unknownSubject(text, [...configuration.servers.keys()], owner);
}

/** The text before the first dot is most likely a mistyped server. */
function unknownSubject(text: string, servers: readonly string[], owner: string | undefined): HubError {
  const dot = text.indexOf('.');
  const [server, tool] = dot < 0 ? [text, ''] : [text.slice(0, dot), text.slice(dot)];
  const meant = tool === '' ? undefined : didYouMean(server, servers);
  const likely = meant === undefined ? owner && `${owner}.${text}` : `${meant}${tool.slice(0, 120)}`;
  const hint =
    likely !== undefined
      ? `Did you mean ${likely}?`
      : `Write SERVER.TOOL. ${nameHint('', servers, { some: 'Configured servers', none: 'No server is configured.' })}`;
  return new HubError('SERVER_UNKNOWN', `"${text.slice(0, 120)}" does not name a configured server.`, { hint });
}

/** Splits `server_tool` as agents see it; the longest server name wins. */
function splitExposedName(text: string, configuration: Configuration): NamedTool | undefined {
  const [server] = [...configuration.servers.keys()]
    .filter((name) => text.startsWith(`${name}_`) && text.length > name.length + 1)
    .sort((a, b) => b.length - a.length);
  return server === undefined ? undefined : { server, tool: text.slice(server.length + 1) };
}

export type ToolVerdict =
  | { readonly kind: 'decided'; readonly decision: Decision }
  /** The server itself is unusable, whatever the rules are. */
  | {
      readonly kind: 'invalid' | 'untrusted' | 'disabled';
      readonly file: string;
      readonly line?: number;
      readonly message: string;
    };

/** The configuration's decision on an agent and a tool. */
export function judge(hub: Hub, agent: string, { server, tool }: NamedTool, call?: ExplainedCall): ToolVerdict {
  const entry = hub.configuration.servers.get(server);
  if (entry?.kind === 'invalid') {
    const message = `server ${server} is invalid: ${worstProblem(entry.problems)?.message ?? 'see `qm ls`'}`;
    return { kind: 'invalid', ...entry.source, message };
  }
  if (entry?.kind === 'untrusted') {
    const why = entry.declined ? 'was declined' : 'is not trusted yet';
    return { kind: 'untrusted', ...entry.source, message: `server ${server} ${why}` };
  }
  if (entry?.kind === 'ready' && !entry.spec.enabled) {
    return {
      kind: 'disabled',
      ...(entry.spec.disabledBy ?? entry.spec.source),
      message: `server ${server} is disabled`,
    };
  }
  return { kind: 'decided', decision: hub.explain([agent], server, tool, call) };
}

/** The decision of the shadow policy. Null if there is none. */
export function judgeByShadow(
  hub: Hub,
  agent: string,
  { server, tool }: NamedTool,
  call?: ExplainedCall,
): Explanation['shadow'] {
  const tried = triedConfiguration(hub.configuration);
  if (tried === undefined) return null;
  const decision = hub.explainerFor(tried)([agent], server, tool, call);
  return { decision: decision.effect, text: describeDecision(decision, server, tool) };
}

export function sayVerdict(verdict: ToolVerdict, { server, tool }: NamedTool): string {
  if (verdict.kind === 'decided') return describeDecision(verdict.decision, server, tool);
  return `${server}.${tool} cannot be called: ${verdict.message.replace(/\.$/, '')} (${placeOf(verdict)}).`;
}

/** Tells the operator in full why an agent got "unknown tool". */
export function whyUnknown(hub: Hub, agent: string, text: string): HubError {
  const lone = loneTool(hub, agent, text);
  if (lone !== undefined) return lone;
  const name = readToolName(text, hub);
  const { server, tool } = name;
  const verdict = judge(hub, agent, name);
  const details = { server, tool };
  if (verdict.kind !== 'decided') {
    return new HubError(unusableCodes[verdict.kind], sayVerdict(verdict, name), {
      ...(verdict.kind === 'untrusted'
        ? { hint: `\`qm trust --show\` shows what it would start; \`qm trust ${server}\` approves it.` }
        : {}),
      details,
    });
  }
  if (verdict.decision.effect === 'deny') {
    return new HubError('POLICY_DENIED', sayVerdict(verdict, name), {
      hint: strangerNote(hub.configuration, agent) ?? `\`qm tools --agent ${agent}\` lists its tools.`,
      details,
    });
  }
  return unavailableOrMissing(hub, agent, name);
}

const unusableCodes = {
  invalid: 'SERVER_INVALID',
  untrusted: 'NOT_TRUSTED',
  disabled: 'SERVER_DISABLED',
} as const;

/** The rules allow it, so either the server could not be reached or it has no such tool. */
function unavailableOrMissing(hub: Hub, agent: string, { server, tool }: NamedTool): HubError {
  const status = hub.status().find((each) => each.name === server);
  const details = { server, tool };
  if (status?.tools === undefined) {
    const hint = `Nothing was sent. \`qm ls\` shows the server's state.`;
    const message = status?.error ?? `Server "${server}" has not listed its tools in time.`;
    if (status?.state === 'needs-login')
      return new HubError('UPSTREAM_NEEDS_LOGIN', message, { hint: loginHint, details });
    if (status?.state === 'forbidden') return new HubError('UPSTREAM_FORBIDDEN', message, { hint, details });
    return new HubError('UPSTREAM_UNAVAILABLE', message, { hint, details });
  }
  const others = toolsOf(hub, agent).filter((entry) => entry.server === server);
  return new HubError('USAGE', `Server "${server}" has no tool "${tool}".`, {
    hint: nameHint(
      `${server}.${tool}`,
      others.map((entry) => `${server}.${entry.tool.name}`),
      { some: `Agent ${agent} has`, none: 'It has no tools that this agent sees.' },
    ),
    details,
  });
}

/** A tool's own name, without its server or almost right. Undefined if a server is named. */
function loneTool(hub: Hub, agent: string, text: string): HubError | undefined {
  const { servers } = hub.configuration;
  if (text.includes('.') || [...servers.keys()].some((server) => text.startsWith(`${server}_`))) return undefined;
  const tools = toolsOf(hub, agent);
  const names = tools.map(({ name }) => name);
  const near = didYouMean(text, names);
  const meant = tools.find((entry) => entry.tool.name === text) ?? tools.find(({ name }) => name === near);
  if (meant === undefined) return undefined;
  return new HubError('USAGE', `Agent ${agent} has no tool "${text.slice(0, 120)}".`, {
    hint: `Did you mean ${meant.server}.${meant.tool.name}?`,
  });
}

function toolsOf(hub: Hub, agent: string): readonly AgentToolEntry[] {
  return hub.lists.tools(hub.callerFor({ agent }));
}

const loginHint = "Set its token in the server's headers.";
