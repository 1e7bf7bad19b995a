import { type ErrorCode, explainError, HubError } from '../../base/index.ts';
import type { ServerState, ServerStatus } from '../../domain/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';
import type { ToolReference } from '../call.ts';
import { unknownTool, withTool } from '../call-errors.ts';
import type { Target } from '../target.ts';
import { prefixedName } from '../views/naming/names.ts';
import type { View } from '../views/view.ts';
import { alternativeTo } from './alternative.ts';
import { isStarting } from './missing-servers.ts';

/** The caller's text for a failure: which server failed and, if it is unavailable, how to continue without it. */
export function forCaller(error: HubError, target: Target, now: number): HubError {
  const named = withTool(withoutPlaces(error), target);
  return unavailableCodes.has(error.code) ? withAdvice(named, target.control, now) : named;
}

/** The agent has no tool of that name. The tool may belong to a server that is unavailable. */
export function missingTool(view: View, tool: string | ToolReference, now: number): HubError {
  const isText = typeof tool === 'string';
  const name = isText ? tool : `${tool.server}.${tool.tool}`;
  const control = isText ? (view.ownerOfMissing(name) ?? undiscoveredWith(view, name)) : undiscoveredServer(view, tool);
  return (control && unavailableServer(control, name, now)) ?? unknownTool(name);
}

export function undiscoveredServer(
  { undiscovered }: View,
  { server }: Pick<ToolReference, 'server'>,
): UpstreamControl | undefined {
  return undiscovered.find(({ spec }) => spec.name === server);
}

/** The error for a resource of a server that is unavailable. No other server is asked for it. */
export function missingResource(
  view: View,
  kind: 'resource' | 'subscription' | 'completion',
  name: string,
  now: number,
): HubError | undefined {
  const control = view.ownerOfMissingRead(kind, name);
  if (control === undefined) return undefined;
  const server = control.spec.name;
  return (
    unavailableServer(control, name, now) ??
    new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" is unavailable, and the resource is its own.`, {
      details: { server },
    })
  );
}

/** The undiscovered server that may have the tool, or that comes before a server that has it. */
export function undiscoveredWith(view: View, tool: string): UpstreamControl | undefined {
  return undiscoveredBehind(view, tool) ?? view.contenderFor(tool);
}

/** The undiscovered server to which a tool or prompt of this name would belong. */
export function undiscoveredBehind({ undiscovered, naming }: View, name: string): UpstreamControl | undefined {
  const named = undiscovered
    .filter(({ spec }) => name.startsWith(`${spec.name}.`) || name.startsWith(prefixedName(spec.name, '')))
    .sort((a, b) => b.spec.name.length - a.spec.name.length)[0];
  // Without a prefix, any undiscovered server may have the name.
  return named ?? (naming === 'preserved' ? undiscovered.find(isStarting) : undefined);
}

/** The error if the target's server is unavailable, otherwise undefined. */
export function unavailableServer(control: UpstreamControl, name: string, now: number): HubError | undefined {
  if (isStarting(control)) return startingWith(control, name);
  const status = control.status();
  const code = codeOf(status) ?? (control.lastCatalog === undefined ? 'UPSTREAM_UNAVAILABLE' : undefined);
  if (code === undefined) return undefined;
  const server = control.spec.name;
  const failure = control.failure && withoutPlaces(control.failure);
  const why = failure !== undefined && failure !== control.failure ? failure.message : status.error;
  const message = `Server "${server}" is unavailable, so its tools are not in your list: ${why ?? 'it cannot be reached.'}`;
  return withAdvice(
    new HubError(code, message, { details: { ...failure?.details, server, tool: name.slice(0, 200) } }),
    control,
    now,
  );
}

/** Never "unknown tool", because that is not known yet. */
function startingWith(control: UpstreamControl, name: string): HubError {
  const server = control.spec.name;
  const { state } = control.status();
  return new HubError(
    'UPSTREAM_UNAVAILABLE',
    `Server "${server}" is still starting, so its tools are not known yet. Nothing was sent. Call this tool again in a few seconds.`,
    { details: { server, tool: name.slice(0, 200), state, retryAfterMs: startingRetryMs } },
  );
}

/** The program that could not be started and its folder are for the operator only. */
function withoutPlaces(error: HubError): HubError {
  const { cause } = error;
  const source = error.details.command === undefined && cause instanceof HubError ? cause : error;
  if (source.details.command === undefined) return error;
  const { command: _command, ...details } = error.details;
  const { server = '', reason } = source.details;
  const what = typeof reason === 'string' ? reason : 'it cannot be started';
  // The error of several transports has a reason for each, and no folder.
  const message = source === error ? `Server "${server}" cannot be started: ${what}.` : error.message;
  return new HubError(error.code, message, {
    cause: error,
    hint: 'An operator can see why with `qm doctor`.',
    details: { ...details, reason },
  });
}

const startingRetryMs = 5000;

const unavailableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_FORBIDDEN',
  'UPSTREAM_FAILED',
]);

/** A server that is connecting again after a failure is unavailable. One in its first attempt is starting. */
function codeOf({ state, error }: ServerStatus): ErrorCode | undefined {
  return state === 'connecting' && error !== undefined ? 'UPSTREAM_UNAVAILABLE' : codeOfState[state];
}

const codeOfState: Partial<Record<ServerState, ErrorCode>> = {
  retrying: 'UPSTREAM_UNAVAILABLE',
  'open-circuit': 'UPSTREAM_UNAVAILABLE',
  'needs-login': 'UPSTREAM_NEEDS_LOGIN',
  forbidden: 'UPSTREAM_FORBIDDEN',
};

const withoutIt = 'continue without this tool';

/** Everything is in the message, because a model reads nothing else. */
function withAdvice(error: HubError, control: UpstreamControl, now: number): HubError {
  const { state, retryAt } = control.status();
  const due = state === 'connecting' ? now : retryAt;
  const known = error.details.retryAfterMs ?? (due === undefined ? undefined : Math.max(0, due - now));
  const instead = alternativeTo(control) ?? withoutIt;
  // For a server with a planned retry, the hint would only repeat the time.
  const what = known !== undefined && error.code === 'UPSTREAM_UNAVAILABLE' ? plain(error) : explainError(error);
  const back = known === undefined ? '' : ` The hub tries again in ${Math.max(1, Math.ceil(known / 1000))} s.`;
  return new HubError(error.code, `${sentence(what)} Meanwhile: ${instead}.${back}`, {
    cause: error.cause,
    details: { state, ...error.details, instead, ...(known === undefined ? {} : { retryAfterMs: known }) },
  });
}

function plain(error: HubError): string {
  return `${sentence(error.message)} Nothing was sent.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
