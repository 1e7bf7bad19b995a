// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type {
  FleetServer,
  HttpTransport,
  Isolation,
  Problem,
  ProgramSettings,
  ServerAccess,
  ServerRestriction,
  ServerSpec,
  SourceRef,
  SseTransport,
  StdioTransport,
  Transport,
} from '../domain/index.ts';
import { expand, type Grammar, type RequiredVariable } from './interpolation.ts';
import { findLiteralSecrets } from './literal-secrets.ts';
import { dotted, type Finding, hasError, quote, toProblem } from './problems.ts';
import {
  type AccessDraft,
  type ProgramDraft,
  restricts,
  type ServerBody,
  type ServerDraft,
  type TransportDraft,
  type WrittenText,
} from './server-draft.ts';
import type { Variables } from './variables.ts';

export interface ResolveContext {
  readonly file: string;
  readonly workspace: string;
  readonly grammar: Grammar;
  readonly variables: Variables;
  /** How the format names a variable; undefined: `${NAME}`, with a default where wanted. */
  readonly sayVariable: ((name: string) => string) | undefined;
}

export interface ResolvedServer {
  readonly server: FleetServer;
  /** What it forbids, which holds also where another file's entry is the one that counts. */
  readonly restrictions: readonly ServerRestriction[];
  readonly problems: readonly Problem[];
  readonly secrets: ReadonlySet<string>;
}

/** Expands every variable; the server comes out ready and whole, or invalid with the reasons. */
export function resolveServer(draft: ServerDraft, context: ResolveContext): ResolvedServer {
  const findings: Finding[] = [...draft.findings];
  const secrets = new Set<string>();
  const source = { file: context.file, line: draft.line };
  const gaps = new Set<WrittenText>();
  const parts = draft.body && resolveBody({ draft, body: draft.body, context, findings, secrets, gaps });
  for (const transport of draft.body === undefined ? [] : [draft.body.transport, ...draft.body.fallbacks]) {
    warnAboutLiterals(draft, transport, context, findings, secrets);
  }
  const problems = findings.map((finding) => toProblem(context.file, finding));
  if (draft.body === undefined || parts === undefined || hasError(findings)) {
    const restrictions = parts === undefined ? [] : [...restrictionOf(draft, parts.access), ...ownRules(draft, source)];
    const unclear = draft.unclear === true ? { unclear: true as const } : {};
    const server: FleetServer = { kind: 'invalid', name: draft.name, source, hides: [], problems, ...unclear };
    return { server, problems, secrets, restrictions };
  }
  const { description, enabled, shared, tools, limits, isolation = 'shared', cache, instead } = draft.body;
  const connectionKey = fingerprint([parts.transport, ...parts.fallbacks], isolation);
  const restrictedBy = ownRules(draft, source);
  const rest = { description, enabled, shared, tools, limits, isolation, cache, instead, connectionKey, restrictedBy };
  return {
    restrictions: [...restrictionOf(draft, parts.access), ...restrictedBy],
    server: { kind: 'ready', spec: { name: draft.name, source, hides: [], ...parts, ...rest } },
    problems,
    secrets,
  };
}

/** Rules of the server's own file. */
function ownRules({ body }: ServerDraft, source: SourceRef): readonly ServerRestriction[] {
  return (body?.rules ?? []).map((rules) => ({ source, tools: {}, access: undefined, rules }));
}

/** Lists and statements of the entry itself, if there are any. */
function restrictionOf({ body }: ServerDraft, access: ServerAccess): readonly ServerRestriction[] {
  if (body === undefined || !restricts({ ...body, enabled: true, rules: [] })) return [];
  return [{ source: access.source, tools: body.tools, access, rules: undefined }];
}

interface Resolution {
  readonly draft: ServerDraft;
  readonly body: ServerBody;
  readonly context: ResolveContext;
  readonly findings: Finding[];
  readonly secrets: Set<string>;
  /** Texts that could not be expanded; judging what is left of them would only confuse. */
  readonly gaps: Set<WrittenText>;
}

function resolveBody(resolution: Resolution): Pick<ServerSpec, 'transport' | 'fallbacks' | 'access'> {
  const { transport, fallbacks, access } = resolution.body;
  return {
    transport: resolveTransport(resolution, transport),
    fallbacks: fallbacks.map((fallback) => resolveTransport(resolution, fallback)),
    access: resolveAccess(resolution, access),
  };
}

function resolveAccess(resolution: Resolution, access: AccessDraft): ServerAccess {
  const { scopes, readOnly, writeRequiresApproval, trustAnnotations, line } = access;
  return {
    scopes,
    readOnly: typeof readOnly === 'boolean' ? readOnly : !saysNo(fill(resolution, readOnly)),
    writeRequiresApproval,
    trustAnnotations,
    source: { file: resolution.context.file, line },
  };
}

/** A guard that cannot be read is up. */
function saysNo(text: string): boolean {
  return /^(?:false|no|off|0)$/i.test(text.trim());
}

function resolveTransport(resolution: Resolution, transport: TransportDraft): Transport {
  switch (transport.type) {
    case 'stdio':
      return resolveStdio(resolution, transport);
    case 'builtin':
      return { type: 'builtin', builtin: transport.builtin, ...resolveProgram(resolution, transport) };
    default:
      return resolveRemote(resolution, transport);
  }
}

function resolveStdio(resolution: Resolution, draft: Extract<TransportDraft, { type: 'stdio' }>): StdioTransport {
  const command = fillForProgram(resolution, draft.command);
  if (command === '' && !resolution.gaps.has(draft.command)) {
    report(resolution, draft.command, 'expands to nothing', 'Give the variable in it the program to start.');
  }
  refuseTilde(resolution, draft.command, command);
  return { type: 'stdio', command, ...resolveProgram(resolution, draft) };
}

function resolveProgram(resolution: Resolution, draft: ProgramDraft): ProgramSettings {
  const { workspace } = resolution.context;
  const args = draft.args.map((arg) => fillForProgram(resolution, arg));
  const env = new Map<string, string>();
  for (const [name, at] of draft.env) {
    if (name === '' || /[=\0]/.test(name)) {
      report(resolution, at, 'is not a name that an environment can hold', 'Write a name without "=".');
    }
    const value = fillForProgram(resolution, at);
    noteShortSecret(resolution, name, value);
    if (value !== '' || at.whenMissing !== 'omit') env.set(name, value);
  }
  const cwd = draft.cwd === undefined ? '' : fillForProgram(resolution, draft.cwd);
  if (draft.cwd !== undefined) refuseTilde(resolution, draft.cwd, cwd);
  return { args, env: Object.fromEntries(env), cwd: resolve(workspace, cwd) };
}

function refuseTilde(resolution: Resolution, at: WrittenText, value: string): void {
  if (!/^~(?:\/|$)/.test(value)) return;
  const fix = resolution.context.sayVariable === undefined ? 'Write ${HOME} in its place.' : 'Write the path in full.';
  report(resolution, at, 'starts with "~", which only a shell understands', fix);
}

function resolveRemote(
  resolution: Resolution,
  draft: Extract<TransportDraft, { type: 'http' | 'sse' }>,
): HttpTransport | SseTransport {
  const url = fill(resolution, draft.url).trim();
  if (!resolution.gaps.has(draft.url)) checkUrl(resolution, draft.url, url);
  const headers = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, at] of draft.headers) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
      report(resolution, at, 'is not a valid header name', 'Use letters, digits and "-".');
    }
    if (seen.has(name.toLowerCase())) {
      report(resolution, at, 'is there twice; capitals make no difference in headers', 'Keep one of them.');
    }
    seen.add(name.toLowerCase());
    const value = fill(resolution, at).trim();
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      const message = 'holds a line break or another character that no header can carry';
      report(resolution, at, message, 'Remove it from the file or from the value of the variable.');
    }
    noteShortSecret(resolution, name, value);
    if (value !== '') headers.set(name, value);
  }
  return { type: draft.type, url, headers: Object.fromEntries(headers) };
}

function checkUrl(resolution: Resolution, at: WrittenText, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    report(resolution, at, 'is not an http or https address', 'Write it in full, as https://host/path.');
  } else if (parsed.username !== '' || parsed.password !== '') {
    report(
      resolution,
      at,
      'holds a user name or password, which would not be sent',
      'Write headers: { Authorization: "Basic ${NAME}" }.',
    );
  }
}

/** The text with its variables replaced; what cannot be replaced is reported and left empty. */
function fill(resolution: Resolution, at: WrittenText): string {
  const { context } = resolution;
  const parsed = at.template ?? context.grammar(at.text);
  if (parsed.kind === 'fault') {
    resolution.gaps.add(at);
    report(resolution, at, `cannot be expanded: ${parsed.message}`, parsed.fix);
    return '';
  }
  const { value, missing, used, secrets: texts } = expand(parsed.parts, context.variables.lookup);
  for (const variable of missing) reportMissing(resolution, at, variable);
  // The content of a file that is read for a secret has no name of its own.
  for (const text of texts) noteSecret(resolution, 'secret', text);
  for (const name of used) noteSecret(resolution, name, context.variables.lookup(name) ?? '');
  if (missing.length > 0 && at.whenMissing === 'omit') return '';
  return value;
}

function noteSecret({ context: { variables }, secrets }: Resolution, name: string, value: string): void {
  if (variables.isSecret(value) || variables.isShortSecret(name, value)) secrets.add(value);
}

/** A short value may come from a variable whose name tells nothing, or stand in the file itself. */
function noteShortSecret({ context: { variables }, secrets }: Resolution, name: string, value: string): void {
  if (variables.isShortSecret(name, value)) secrets.add(value);
}

function fillForProgram(resolution: Resolution, at: WrittenText): string {
  const value = fill(resolution, at);
  if (value.includes('\0')) {
    const message = 'holds a NUL character, which no program can be given';
    report(resolution, at, message, 'Remove it from the file or from the value of the variable.');
  }
  return value;
}

/** A server that is switched off may wait for its variables. */
function reportMissing(resolution: Resolution, at: WrittenText, { name, remark }: RequiredVariable): void {
  resolution.gaps.add(at);
  const { body, context } = resolution;
  const orDefault = context.sayVariable === undefined ? `, or write \${${name}:-default}` : '';
  report(
    resolution,
    at,
    at.whenMissing === 'omit'
      ? `is left out: the variable ${name} is not set`
      : `needs the variable ${name}, which is not set`,
    `Set ${name} in .env or in the environment of the hub${orDefault}.${remark === undefined ? '' : ` ${remark}`}`,
    body.enabled && at.whenMissing !== 'omit' ? 'error' : 'warning',
  );
}

function report(
  resolution: Resolution,
  at: WrittenText,
  message: string,
  fix: string,
  severity: Finding['severity'] = 'error',
): void {
  const { draft } = resolution;
  resolution.findings.push({
    severity,
    line: at.line,
    field: dotted(draft.field, at.field),
    server: draft.name,
    message: `Server ${quote(draft.name)}: ${quote(at.field)} ${message}.`,
    fix,
  });
}

function warnAboutLiterals(
  draft: ServerDraft,
  transport: TransportDraft,
  { grammar, sayVariable = (name) => `Write \${${name}}` }: ResolveContext,
  findings: Finding[],
  secrets: Set<string>,
): void {
  for (const { at, value, variable } of findLiteralSecrets(draft.name, transport, grammar)) {
    if (isTelling(value)) secrets.add(value);
    findings.push({
      severity: 'warning',
      line: at.line,
      field: dotted(draft.field, at.field),
      server: draft.name,
      message: `Server ${quote(draft.name)}: ${quote(at.field)} looks like a secret written into the file.`,
      fix: `${sayVariable(variable)} in its place, set that variable, and replace the secret at its issuer.`,
    });
  }
}

/** Redacting a password that is an ordinary word would blank out that word everywhere. */
function isTelling(value: string): boolean {
  return value.length >= 8 && /[a-z]/i.test(value) && /[^a-z]/i.test(value);
}

/** Over what a connection is made of, in an order that the way of writing cannot change. */
function fingerprint(transports: readonly Transport[], isolation: Isolation): string {
  const parts = transports.map((transport) => {
    if (transport.type === 'http' || transport.type === 'sse')
      return [transport.type, transport.url, sorted(transport.headers)];
    const { type, args, env, cwd } = transport;
    return [type, transport.type === 'stdio' ? transport.command : transport.builtin, args, sorted(env), cwd];
  });
  const all = isolation === 'shared' ? parts : [...parts, isolation];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1));
}
