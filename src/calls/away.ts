import { type ErrorCode, explainError, HubError } from '../base/index.ts';
import type { ServerState, ServerStatus } from '../domain/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import { isStarting } from './missing-servers.ts';
import { prefixedName } from './names.ts';
import { unknownTool, withTool } from './refusals.ts';
import type { Target } from './target.ts';
import type { View } from './view.ts';

/** What the caller reads of a failure: whose it is and, where the server is away, how to go on without it. */
export function forCaller(error: HubError, target: Target, now: number): HubError {
  const named = withTool(withoutPlaces(error), target);
  return awayCodes.has(error.code) ? withAdvice(named, target.control, now) : named;
}

/** The agent has no tool of that name; it may be one of a server that it has and that is away. */
export function missingTool(view: View, name: string, now: number): HubError {
  const control = view.missed.get(name) ?? undiscoveredBehind(view, name);
  return (control && awayWith(control, name, now)) ?? unknownTool(name);
}

/** The server that a name of a tool or a prompt would belong to, where nobody knows what that server has. */
export function undiscoveredBehind({ unseen, naming }: View, name: string): UpstreamControl | undefined {
  const named = unseen
    .filter(({ spec }) => name.startsWith(`${spec.name}.`) || name.startsWith(prefixedName(spec.name, '')))
    .sort((a, b) => b.spec.name.length - a.spec.name.length)[0];
  // Without prefixes the name may be that of any server which has not answered yet.
  return named ?? (naming === 'preserved' ? unseen.find(isStarting) : undefined);
}

/** A server that the agent has is away, and what it asks for with it; undefined where it is not. */
export function awayWith(control: UpstreamControl, name: string, now: number): HubError | undefined {
  if (isStarting(control)) return startingWith(control, name);
  const status = control.status();
  const code = codeOf(status) ?? (control.lastCatalog === undefined ? 'UPSTREAM_UNAVAILABLE' : undefined);
  if (code === undefined) return undefined;
  const server = control.spec.name;
  const failure = control.failure && withoutPlaces(control.failure);
  const why = failure !== undefined && failure !== control.failure ? failure.message : status.error;
  const message = `Server "${server}" is away, so its tools are not in your list: ${why ?? 'it cannot be reached.'}`;
  return withAdvice(
    new HubError(code, message, { details: { ...failure?.details, server, tool: name.slice(0, 200) } }),
    control,
    now,
  );
}

/** Never "unknown tool": nobody knows that yet. */
function startingWith(control: UpstreamControl, name: string): HubError {
  const server = control.spec.name;
  const { state } = control.status();
  return new HubError(
    'UPSTREAM_UNAVAILABLE',
    `Server "${server}" is still starting, so its tools are not known yet. Nothing was sent. Call this tool again in a few seconds.`,
    { details: { server, tool: name.slice(0, 200), state, retryAfterMs: startingRetryMs } },
  );
}

/** Which program could not be started, and in which folder, is for the operator. */
function withoutPlaces(error: HubError): HubError {
  const { cause } = error;
  const source = error.details.command === undefined && cause instanceof HubError ? cause : error;
  if (source.details.command === undefined) return error;
  const { command: _command, ...details } = error.details;
  const { server = '', reason } = source.details;
  const what = typeof reason === 'string' ? reason : 'it cannot be started';
  // The story of several transports has a word for each, and no place.
  const message = source === error ? `Server "${server}" cannot be started: ${what}.` : error.message;
  return new HubError(error.code, message, {
    cause: error,
    hint: 'An operator sees why with `qm doctor`.',
    details: { ...details, reason },
  });
}

const startingRetryMs = 5000;

const awayCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_FORBIDDEN',
  'UPSTREAM_FAILED',
]);

/** While it is tried again after a failure it is still away; a first attempt is not over yet. */
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

/** All of it in the message: a model reads nothing else. */
function withAdvice(error: HubError, control: UpstreamControl, now: number): HubError {
  const { state, retryAt } = control.status();
  const due = state === 'connecting' ? now : retryAt;
  const known = error.details.retryAfterMs ?? (due === undefined ? undefined : Math.max(0, due - now));
  const instead = control.spec.instead?.trim().replace(/\.$/, '') || withoutIt;
  // The hint of a server that is waited for names the same time, less clearly.
  const what = known !== undefined && error.code === 'UPSTREAM_UNAVAILABLE' ? plain(error) : explainError(error);
  const back = known === undefined ? '' : ` The server is tried again in ${Math.max(1, Math.ceil(known / 1000))} s.`;
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
