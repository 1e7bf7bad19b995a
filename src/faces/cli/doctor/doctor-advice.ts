import { basename } from 'node:path';
import { errnoOf } from '../../../base/index.ts';
import {
  type HttpTransportSpec,
  placeOf,
  type ServerSpec,
  type SseTransportSpec,
  type StdioTransportSpec,
  type TransportSpec,
} from '../../../domain/index.ts';
import type { Probe, ProbeAttempt } from '../../../upstream/index.ts';
import { presetBehind } from '../../../workspace-files/index.ts';
import { replacementAdvice } from './replaced-package.ts';

export interface AdviceContext {
  readonly timeoutMs: number;
  /** False: the server was given on the command line. */
  readonly isConfigured: boolean;
  /** Removes secrets from a command line or a host name. */
  readonly redact: (text: string) => string;
}

/** The next steps for a server: each a sentence or two, with an optional command on its own line. */
export function adviceFor(spec: ServerSpec, probe: Probe, context: AdviceContext): string[] {
  return [...replacementAdvice(spec), ...adviceOn(spec, probe, context)];
}

function adviceOn(spec: ServerSpec, probe: Probe, context: AdviceContext): string[] {
  const last = probe.attempts.at(-1);
  switch (probe.verdict) {
    case 'reachable':
      return [];
    case 'needs-auth':
      return [loginAdvice(spec, transportOf(spec, probe.attempts, last), context)];
    case 'auth-failed':
      return [refusalAdvice(spec, transportOf(spec, probe.attempts, last), last, context)];
    case 'unreachable': {
      // Implicit attempts after a 404 need no advice of their own.
      const asked = probe.attempts.filter(({ implicit }) => !implicit);
      const steps = asked.map((attempt) =>
        absenceAdvice(spec, transportOf(spec, probe.attempts, attempt), attempt, context),
      );
      return [...new Set(steps)];
    }
  }
}

/** The transport of an attempt. Attempts come in order, and an implicit one belongs to the transport before it. */
function transportOf(spec: ServerSpec, attempts: readonly ProbeAttempt[], at: ProbeAttempt | undefined): TransportSpec {
  const upTo = at === undefined ? attempts : attempts.slice(0, attempts.indexOf(at) + 1);
  const asked = upTo.filter(({ implicit }) => !implicit).length;
  return [spec.transport, ...spec.fallbacks][asked - 1] ?? spec.transport;
}

function loginAdvice(spec: ServerSpec, transport: TransportSpec, { isConfigured }: AdviceContext): string {
  const sent = credentialHeaders(transport);
  if (!isConfigured) {
    return sent.length === 0
      ? `Send a token with the request: --header "Authorization: Bearer $TOKEN".`
      : `The server does not accept the header ${sent.join(' or ')}: check its value.`;
  }
  const where = `server ${spec.name} (${placeOf(spec.source)})`;
  if (sent.length > 0) {
    return `The server does not accept the header ${sent.join(' or ')} of ${where}: renew the token, or correct the variable it comes from.`;
  }
  const { variables = [], login } = presetBehind(spec.name, spec.source.file) ?? {};
  const wanted = variables.find(({ name }) => name === login?.variable);
  // The preset already has the header, which is left out while the variable is unset.
  if (wanted !== undefined) {
    return `Set ${wanted.name} in .env or in the environment of the hub: ${wanted.purpose}.`;
  }
  const variable = `${spec.name.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()}_TOKEN`;
  return `Give ${where} "headers": {"Authorization": "Bearer \${${variable}}"} and set ${variable} in .env or in the environment of the hub.`;
}

function refusalAdvice(
  spec: ServerSpec,
  transport: TransportSpec,
  attempt: ProbeAttempt | undefined,
  { isConfigured }: AdviceContext,
): string {
  const where = isConfigured ? `server ${spec.name} (${placeOf(spec.source)})` : 'the server';
  if (attempt?.httpStatus === 451) {
    return `The server may not serve this request for legal reasons (451): ask its operator about your account, licence and region.`;
  }
  const sent = credentialHeaders(transport);
  if (sent.length === 0) {
    const how = isConfigured ? `Give ${where} an Authorization header` : 'Send one with --header';
    return `No credential goes with the request. ${how}, or allow this machine at the server.`;
  }
  return `The server knows the credential and refuses it: check the scopes of the token in the header ${sent.join(' or ')} of ${where}, and that the account has the licence that the server requires.`;
}

/** Names only, because the values are secrets. */
function credentialHeaders(transport: TransportSpec): string[] {
  if (transport.type === 'stdio' || transport.type === 'builtin') return [];
  return Object.keys(transport.headers).filter((name) => /auth|token|key|cookie|secret/i.test(name));
}

function absenceAdvice(
  spec: ServerSpec,
  transport: TransportSpec,
  attempt: ProbeAttempt,
  context: AdviceContext,
): string {
  switch (transport.type) {
    case 'stdio':
      return childAdvice(spec, transport, attempt, context);
    case 'builtin': {
      const { builtin, args, cwd } = transport;
      const { hint, details } = attempt.error ?? {};
      // The built-in did not open and gave its own hint; running it by hand would only repeat it.
      if (hint !== undefined && details?.reason === undefined) return `${hint}${configuredIn(spec, context)}`;
      return childAdvice(spec, { command: 'qm', args: ['builtin', builtin, ...args], cwd }, attempt, context);
    }
    default:
      return networkAdvice(spec, transport, attempt, context);
  }
}

function childAdvice(
  spec: ServerSpec,
  { command, args, cwd }: Pick<StdioTransportSpec, 'command' | 'args' | 'cwd'>,
  { error }: ProbeAttempt,
  context: AdviceContext,
): string {
  // It never started, and the lookup of the command gave the best hint.
  if (typeof error?.details.command === 'string' && error.hint !== undefined) {
    return `${error.hint}${configuredIn(spec, context)}`;
  }
  const missing = missingPackage(command, error?.details.stderrTail);
  if (missing !== undefined) return `${missing}${configuredIn(spec, context)}`;
  const byHand = context.redact(`cd ${quoted(cwd)} && ${[command, ...args].map(quoted).join(' ')}`);
  if (error?.code === 'UPSTREAM_TIMEOUT') {
    return `The first start may download a lot: try --timeout ${longer(context)}. Otherwise run it by hand to see what it waits for:\n${byHand}`;
  }
  if (error?.code === 'UPSTREAM_GARBLED')
    return `Its stdout must contain only MCP messages. Run it by hand:\n${byHand}`;
  return `Run it by hand and read its output:\n${byHand}`;
}

/** What npm wrote to stderr, already redacted, says that the package does not exist. */
function missingPackage(command: string, stderr: unknown): string | undefined {
  if (!npmPrograms.has(basename(command)) || typeof stderr !== 'string') return undefined;
  if (!/^npm (?:error|ERR!) (?:code E404|404)\b/m.test(stderr)) return undefined;
  const [, name] = /'([^'\s]{1,214})' (?:is not in this registry|could not be found)/.exec(stderr) ?? [];
  const what = name === undefined ? 'no such package' : `no package "${name.replace(/@\*$/, '')}"`;
  return `npm has ${what}, or you may not read it: check the name and the version.`;
}

const npmPrograms: ReadonlySet<string> = new Set(['npx', 'npm']);

function configuredIn({ source }: ServerSpec, { isConfigured }: AdviceContext): string {
  return isConfigured ? ` It is configured in ${placeOf(source)}.` : '';
}

function networkAdvice(
  spec: ServerSpec,
  transport: HttpTransportSpec | SseTransportSpec,
  { error, httpStatus }: ProbeAttempt,
  context: AdviceContext,
): string {
  const host = hostOf(transport.url, context.redact);
  const url = context.isConfigured ? `url of server ${spec.name} (${placeOf(spec.source)})` : 'URL';
  if (httpStatus !== undefined) return statusAdvice(httpStatus, host, url, error?.details.retryAfterMs);
  if (error?.code === 'UPSTREAM_TIMEOUT') {
    return `${host} accepts connections but does not answer: check that the ${url} is an MCP endpoint, or try with --timeout ${longer(context)}.`;
  }
  if (error?.code === 'UPSTREAM_GARBLED') return `${host} answers, but not with MCP: check the path in the ${url}.`;
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
  if (status >= 500) return `The server itself failed (${status}): look at its logs, or ask the operator of ${host}.`;
  if (status === 200) return `${host} answers, but not with MCP: check the path in the ${url}.`;
  return `${host} is there, but not at this path (${status}): check the ${url}; it often ends in /mcp.`;
}

/** A timeout in seconds worth another try. */
function longer({ timeoutMs }: AdviceContext): number {
  return Math.ceil((timeoutMs / 1000) * 8);
}

/** Quoted for a shell, so that it can be copied. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Without path and query, which may contain keys. Parsing lower-cases the host and may change more, so look for secrets
 * in the host as written, too.
 */
function hostOf(url: string, redact: AdviceContext['redact']): string {
  if (!URL.canParse(url)) return 'the address';
  const authority = /^[^:]*:\/\/([^/\\?#]*)/.exec(url)?.[1] ?? '';
  const written = authority.slice(authority.lastIndexOf('@') + 1);
  const shown = redact(written);
  return shown === written ? redact(new URL(url).host) : shown;
}
