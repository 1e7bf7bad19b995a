import { errnoOf } from '../../base/index.ts';
import {
  type HttpTransport,
  placeOf,
  type ServerSpec,
  type SseTransport,
  type StdioTransport,
  type Transport,
} from '../../domain/index.ts';
import type { Probe, ProbeAttempt } from '../../upstream/index.ts';
import { presetBehind } from '../../workspace-files/index.ts';
import { replacementAdvice } from './replaced-package.ts';

export interface AdviceContext {
  readonly timeoutMs: number;
  /** Takes secrets out of a command line, or out of the name of a host. */
  readonly redact: (text: string) => string;
}

/** What to do about a server: for each thing a sentence or two, and perhaps a command on a line of its own. */
export function adviceFor(spec: ServerSpec, probe: Probe, context: AdviceContext): string[] {
  return [...replacementAdvice(spec), ...adviceOn(spec, probe, context)];
}

function adviceOn(spec: ServerSpec, probe: Probe, context: AdviceContext): string[] {
  const last = probe.attempts.at(-1);
  switch (probe.verdict) {
    case 'reachable':
      return [];
    case 'needs-auth':
      return [loginAdvice(spec, transportOf(spec, probe.attempts, last))];
    case 'auth-failed':
      return [refusalAdvice(spec, transportOf(spec, probe.attempts, last), last)];
    case 'unreachable': {
      // What is tried unasked after a 404 needs no advice of its own.
      const asked = probe.attempts.filter(({ implicit }) => !implicit);
      const steps = asked.map((attempt) =>
        absenceAdvice(spec, transportOf(spec, probe.attempts, attempt), attempt, context),
      );
      return [...new Set(steps)];
    }
  }
}

/** The transport that an attempt was made over: they come in order, and one that nobody asked for belongs to the one before. */
function transportOf(spec: ServerSpec, attempts: readonly ProbeAttempt[], at: ProbeAttempt | undefined): Transport {
  const upTo = at === undefined ? attempts : attempts.slice(0, attempts.indexOf(at) + 1);
  const asked = upTo.filter(({ implicit }) => !implicit).length;
  return [spec.transport, ...spec.fallbacks][asked - 1] ?? spec.transport;
}

function loginAdvice(spec: ServerSpec, transport: Transport): string {
  const sent = credentialHeaders(transport);
  const where = `server ${spec.name} (${placeOf(spec.source)})`;
  if (sent.length > 0) {
    return `It does not accept what the header ${sent.join(' or ')} of ${where} holds: renew the token, or correct the variable it comes from.`;
  }
  const { variables = [], login } = presetBehind(spec.name, spec.source.file) ?? {};
  const wanted = variables.find(({ name }) => name === login?.variable);
  // Its header is written there already, and left out as long as the variable is not set.
  if (wanted !== undefined) {
    return `Set ${wanted.name} in .env or in the environment of the hub: ${wanted.purpose}.`;
  }
  const variable = `${spec.name.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()}_TOKEN`;
  return `Give ${where} "headers": {"Authorization": "Bearer \${${variable}}"} and set ${variable} in .env or in the environment of the hub.`;
}

function refusalAdvice(spec: ServerSpec, transport: Transport, attempt: ProbeAttempt | undefined): string {
  const where = `server ${spec.name} (${placeOf(spec.source)})`;
  if (attempt?.httpStatus === 451) {
    return `It must not serve this request for legal reasons (451): ask who runs it about your account, licence and region.`;
  }
  const sent = credentialHeaders(transport);
  if (sent.length === 0) {
    return `No credential goes with the request. Give ${where} an Authorization header, or have this machine allowed by the server.`;
  }
  return `It knows the credential and refuses it: check the scopes of the token in the header ${sent.join(' or ')} of ${where}, and that the account has the licence that the server asks for.`;
}

/** Names only: their values are secrets. */
function credentialHeaders(transport: Transport): string[] {
  if (transport.type === 'stdio' || transport.type === 'builtin') return [];
  return Object.keys(transport.headers).filter((name) => /auth|token|key|cookie|secret/i.test(name));
}

function absenceAdvice(spec: ServerSpec, transport: Transport, attempt: ProbeAttempt, context: AdviceContext): string {
  switch (transport.type) {
    case 'stdio':
      return childAdvice(spec, transport, attempt, context);
    case 'builtin': {
      const { builtin, args, cwd } = transport;
      const { hint, details } = attempt.error ?? {};
      // It did not open, and knows itself what it wants; by hand it would only say so again.
      if (hint !== undefined && details?.reason === undefined)
        return `${hint} It is configured in ${placeOf(spec.source)}.`;
      return childAdvice(spec, { command: 'qm', args: ['builtin', builtin, ...args], cwd }, attempt, context);
    }
    default:
      return networkAdvice(spec, transport, attempt, context);
  }
}

function childAdvice(
  spec: ServerSpec,
  { command, args, cwd }: Pick<StdioTransport, 'command' | 'args' | 'cwd'>,
  { error }: ProbeAttempt,
  context: AdviceContext,
): string {
  // It never started, and whoever looked for the command knows best why.
  if (typeof error?.details.command === 'string' && error.hint !== undefined) {
    return `${error.hint} It is configured in ${placeOf(spec.source)}.`;
  }
  const byHand = context.redact(`cd ${quoted(cwd)} && ${[command, ...args].map(quoted).join(' ')}`);
  if (error?.code === 'UPSTREAM_TIMEOUT') {
    return `A first start may have to download much: try with --timeout ${longer(context)}. Else run it by hand and see what it waits for:\n${byHand}`;
  }
  if (error?.code === 'UPSTREAM_GARBLED')
    return `Its standard output must hold MCP and nothing else. Run it by hand:\n${byHand}`;
  return `Run it by hand and read what it says:\n${byHand}`;
}

function networkAdvice(
  spec: ServerSpec,
  transport: HttpTransport | SseTransport,
  { error, httpStatus }: ProbeAttempt,
  context: AdviceContext,
): string {
  const host = hostOf(transport.url, context.redact);
  const url = `url of server ${spec.name} (${placeOf(spec.source)})`;
  if (httpStatus !== undefined) return statusAdvice(httpStatus, host, url, error?.details.retryAfterMs);
  if (error?.code === 'UPSTREAM_TIMEOUT') {
    return `${host} takes connections and does not answer: check that the ${url} is an MCP endpoint, or try with --timeout ${longer(context)}.`;
  }
  if (error?.code === 'UPSTREAM_GARBLED') return `${host} answers, but not in MCP: check the path in the ${url}.`;
  switch (errnoOf(error?.cause)) {
    case 'ECONNREFUSED':
      return `Nothing listens at ${host}: start the server, or correct the ${url}.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name ${host} is not known here: check the ${url}, and the network.`;
    default:
      return `Check the ${url}, and the way to ${host}: network, proxy, certificate.`;
  }
}

function statusAdvice(status: number, host: string, url: string, retryAfterMs: number | undefined): string {
  if (status === 429) {
    const when = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
    return `${host} has had too many requests (429): try again ${when}.`;
  }
  if (status >= 300 && status < 400) return `Redirects are not followed: write the final address as the ${url}.`;
  if (status >= 500) return `The server itself failed (${status}): look at its logs, or ask who runs ${host}.`;
  if (status === 200) return `${host} answers, but not in MCP: check the path in the ${url}.`;
  return `${host} is there, but not at this path (${status}): check the ${url}; it often ends in /mcp.`;
}

/** Seconds that are worth another try. */
function longer({ timeoutMs }: AdviceContext): number {
  return Math.ceil((timeoutMs / 1000) * 8);
}

/** As a shell reads it, to be copied. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Without path and query: those may hold keys. */
/** A host name loses its capitals when it is parsed, and perhaps more: a secret in it is sought where it was written. */
function hostOf(url: string, redact: AdviceContext['redact']): string {
  if (!URL.canParse(url)) return 'the address';
  const authority = /^[^:]*:\/\/([^/\\?#]*)/.exec(url)?.[1] ?? '';
  const written = authority.slice(authority.lastIndexOf('@') + 1);
  const shown = redact(written);
  return shown === written ? redact(new URL(url).host) : shown;
}
