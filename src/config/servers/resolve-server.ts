// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type FolderCode, type FolderOptions, folderCode } from '../../base/index.ts';
import {
  type ConfiguredServer,
  type HttpTransportSpec,
  inReadOnlyMode,
  isReadOnly,
  type Problem,
  type ProgramSettings,
  type ServerAccess,
  type ServerPlan,
  type ServerRestriction,
  type ServerSpec,
  type SourceRef,
  type SseTransportSpec,
  type StdioTransportSpec,
  type TransportSpec,
} from '../../domain/index.ts';
import { dotted, type Finding, hasError, quote, toProblem } from '../findings.ts';
import { expand, type Grammar, type RequiredVariable } from '../variables/interpolation.ts';
import type { FoundLiteral, WriteVariable } from '../variables/literal-secrets.ts';
import type { Variables } from '../variables/variables.ts';
import { environmentFileValues, planTransports } from './plan-transports.ts';
import { literalFinding, literalsOf } from './report-literals.ts';
import {
  type AccessDraft,
  type ProgramDraft,
  restricts,
  type ServerBody,
  type ServerDraft,
  type TransportDraft,
  type WrittenText,
} from './server-draft.ts';

export interface ResolveContext {
  readonly file: string;
  readonly workspace: string;
  readonly grammar: Grammar;
  readonly variables: Variables;
  /** How the format writes a variable. Undefined: `${NAME}`, with an optional default. */
  readonly writeVariable: WriteVariable | undefined;
  /** The texts are from earlier, and the files beside them from now. */
  readonly onlyTexts?: boolean | undefined;
  /** Where agents write, if it is not the workspace. */
  readonly agentFolder?: string | undefined;
}

export interface ResolvedServer {
  readonly server: ConfiguredServer;
  /** Its restrictions, which apply even if another file's entry wins. */
  readonly restrictions: readonly ServerRestriction[];
  readonly problems: readonly Problem[];
  readonly secrets: ReadonlySet<string>;
  /** The names that were looked up. */
  readonly variables: ReadonlySet<string>;
  /** Undefined if the server is invalid. */
  readonly plan: WrittenPlan | undefined;
  readonly literals: readonly FoundLiteral[];
}

/** The part of a plan that the file and its variables determine. */
export type WrittenPlan = Pick<ServerPlan, 'transports' | 'values'>;

/** Expands every variable. The server is ready and complete, or invalid with the reasons. */
export function resolveServer(draft: ServerDraft, context: ResolveContext): ResolvedServer {
  const findings: Finding[] = [...draft.findings];
  const secrets = new Set<string>();
  const source = { file: context.file, line: draft.line };
  const gaps = new Set<WrittenText>();
  const variables = new Set<string>();
  const parts = draft.body && resolveBody({ draft, body: draft.body, context, findings, secrets, gaps, variables });
  const transports = draft.body === undefined ? [] : [draft.body.transport, ...draft.body.fallbacks];
  const literals = transports.flatMap((transport) => literalsOf(draft, transport, context));
  for (const literal of literals) {
    if (isTelling(literal.value)) secrets.add(literal.value);
    findings.push(literalFinding(draft, literal, context));
  }
  const problems = findings.map((finding) => toProblem(context.file, finding));
  if (draft.body === undefined || parts === undefined || hasError(findings)) {
    const restrictions = parts === undefined ? [] : [...restrictionOf(draft, parts.access), ...ownRules(draft, source)];
    const unclear = draft.unclear === true ? { unclear: true as const } : {};
    const server: ConfiguredServer = { kind: 'invalid', name: draft.name, source, hides: [], problems, ...unclear };
    return { server, problems, secrets, variables, restrictions, literals, plan: undefined };
  }
  const { description, enabled, shared, tools, limits, cache, instead, paths, labels, results } = draft.body;
  const { isolation = 'shared', roots = 'none' } = draft.body;
  const connectionKey = fingerprint([parts.transport, ...parts.fallbacks], { isolation, roots }, secrets);
  const restrictedBy = ownRules(draft, source);
  const settings = { description, enabled, shared, tools, limits, isolation, roots, cache, instead };
  const rest = {
    ...settings,
    ...(paths === undefined ? {} : { paths }),
    ...(labels === undefined ? {} : { labels }),
    ...(results === undefined ? {} : { results }),
    connectionKey,
    restrictedBy,
  };
  return {
    restrictions: [...restrictionOf(draft, parts.access), ...restrictedBy],
    server: { kind: 'ready', spec: { name: draft.name, source, hides: [], ...parts, ...rest, reaches: [] } },
    problems,
    secrets,
    variables,
    plan: planOf(draft.body, { context, names: variables, resolved: [parts.transport, ...parts.fallbacks] }),
    literals,
  };
}

interface PlanContext {
  readonly context: ResolveContext;
  readonly names: ReadonlySet<string>;
  readonly resolved: readonly TransportSpec[];
}

function planOf(body: ServerBody, { context, names, resolved }: PlanContext): WrittenPlan {
  const { grammar, variables } = context;
  const values = [...names].flatMap((name): [string, string][] => {
    const value = variables.fromFile(name);
    return value === undefined ? [] : [[name, value]];
  });
  const transports = planTransports(body, { grammar, resolved, ...folderOptions(context) });
  return { transports, values: new Map([...values, ...environmentFileValues(body)]) };
}

function folderOptions({ variables, workspace, agentFolder = workspace }: ResolveContext): FolderOptions {
  return { workspace: agentFolder, home: variables.lookup('HOME') };
}

/** Rules from the server's own file. */
function ownRules({ body }: ServerDraft, source: SourceRef): readonly ServerRestriction[] {
  return (body?.rules ?? []).map((rules) => ({ source, tools: {}, access: undefined, rules }));
}

/** Tool lists and access settings of the entry itself, if there are any. */
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
  /** Texts that could not be expanded. Checking the rest of them would only confuse. */
  readonly gaps: Set<WrittenText>;
  readonly variables: Set<string>;
}

function resolveBody(resolution: Resolution): Pick<ServerSpec, 'transport' | 'fallbacks' | 'access'> {
  const { transport, fallbacks, access: written } = resolution.body;
  const access = resolveAccess(resolution, written);
  // Where the provider itself can refuse to write, tools that take any statement stay usable for reading.
  const restrict = isReadOnly(access) ? inReadOnlyMode : (spec: TransportSpec): TransportSpec => spec;
  return {
    transport: restrict(resolveTransport(resolution, transport)),
    fallbacks: fallbacks.map((fallback) => restrict(resolveTransport(resolution, fallback))),
    access,
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

/** A restriction that cannot be read is in force. */
function saysNo(text: string): boolean {
  return /^(?:false|no|off|0)$/i.test(text.trim());
}

function resolveTransport(resolution: Resolution, transport: TransportDraft): TransportSpec {
  switch (transport.type) {
    case 'stdio':
      return resolveStdio(resolution, transport);
    case 'builtin':
      return { type: 'builtin', builtin: transport.builtin, ...resolveProgram(resolution, transport) };
    default:
      return resolveRemote(resolution, transport);
  }
}

function resolveStdio(resolution: Resolution, draft: Extract<TransportDraft, { type: 'stdio' }>): StdioTransportSpec {
  const command = fillForProgram(resolution, draft.command);
  if (command === '' && !resolution.gaps.has(draft.command)) {
    report(resolution, draft.command, 'expands to nothing', 'Give the variable in it the program to start.');
  }
  refuseTilde(resolution, draft.command, command);
  const program = { type: 'stdio' as const, command, ...resolveProgram(resolution, draft) };
  const { context } = resolution;
  const guard = guardFor(folderCode(program, folderOptions(context)), context);
  return guard === undefined ? program : { ...program, guard };
}

function guardFor(found: FolderCode, { onlyTexts, agentFolder }: ResolveContext): StdioTransportSpec['guard'] {
  if (found.kind !== 'runs' || found.because === undefined) return found.kind === 'none' ? undefined : found.guard;
  if (agentFolder !== undefined) return found.because;
  return onlyTexts === true ? 'unapproved' : found.guard;
}

function resolveProgram(resolution: Resolution, draft: ProgramDraft): ProgramSettings {
  const { workspace } = resolution.context;
  const args = draft.args.map((arg) => fillForProgram(resolution, arg));
  const env = new Map<string, string>();
  for (const [name, at] of draft.env) {
    if (name === '' || /[=\0]/.test(name)) {
      report(resolution, at, 'is not a valid name of an environment variable', 'Write a name without "=".');
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
  const fix = resolution.context.writeVariable === undefined ? 'Write ${HOME} instead.' : 'Write the path in full.';
  report(resolution, at, 'starts with "~", which only a shell understands', fix);
}

function resolveRemote(
  resolution: Resolution,
  draft: Extract<TransportDraft, { type: 'http' | 'sse' }>,
): HttpTransportSpec | SseTransportSpec {
  const url = fill(resolution, draft.url).trim();
  if (!resolution.gaps.has(draft.url)) checkUrl(resolution, draft.url, url);
  const headers = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, at] of draft.headers) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
      report(resolution, at, 'is not a valid header name', 'Use letters, digits and "-".');
    }
    if (seen.has(name.toLowerCase())) {
      report(resolution, at, 'is set twice; header names are case-insensitive', 'Keep one of them.');
    }
    seen.add(name.toLowerCase());
    const value = fill(resolution, at).trim();
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      const message = 'contains a line break or another character that is not allowed in headers';
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
      'contains a user name or password, which would not be sent',
      'Write headers: { Authorization: "Basic ${NAME}" }.',
    );
  }
}

/** The text with its variables replaced. A text that cannot be expanded is reported and becomes empty. */
function fill(resolution: Resolution, at: WrittenText): string {
  const { context } = resolution;
  const parsed = at.template ?? context.grammar(at.text);
  if (parsed.kind === 'fault') {
    resolution.gaps.add(at);
    report(resolution, at, `cannot be expanded: ${parsed.message}`, parsed.fix);
    return '';
  }
  const {
    value,
    missing,
    used,
    secrets: texts,
  } = expand(parsed.parts, (name, from) => {
    resolution.variables.add(name);
    return context.variables.lookup(name, from);
  });
  for (const variable of missing) reportMissing(resolution, at, variable);
  // The content of a secret file has no name of its own.
  for (const text of texts) noteSecret(resolution, 'secret', text);
  for (const name of used) noteSecret(resolution, name, context.variables.lookup(name) ?? '');
  if (missing.length > 0 && at.whenMissing === 'omit') return '';
  return value;
}

function noteSecret({ context: { variables }, secrets }: Resolution, name: string, value: string): void {
  if (variables.isSecret(value) || variables.isShortSecret(name, value)) secrets.add(value);
}

/** A short value may come from a variable with an unrelated name, or be written in the file itself. */
function noteShortSecret({ context: { variables }, secrets }: Resolution, name: string, value: string): void {
  if (variables.isShortSecret(name, value)) secrets.add(value);
}

function fillForProgram(resolution: Resolution, at: WrittenText): string {
  const value = fill(resolution, at);
  if (value.includes('\0')) {
    const message = 'contains a NUL character, which cannot be passed to a program';
    report(resolution, at, message, 'Remove it from the file or from the value of the variable.');
  }
  return value;
}

/** A disabled server may lack its variables. */
function reportMissing(resolution: Resolution, at: WrittenText, { name, from }: RequiredVariable): void {
  resolution.gaps.add(at);
  const { body, context } = resolution;
  if (from === 'store') {
    const fix = `Run \`qm secret set ${name}\`.`;
    const severity = body.enabled ? 'error' : 'warning';
    report(resolution, at, `needs the secret ${name}, which is not stored`, fix, severity);
    return;
  }
  const orDefault = context.writeVariable === undefined ? `, or write \${${name}:-default}` : '';
  report(
    resolution,
    at,
    at.whenMissing === 'omit'
      ? `is left out: the variable ${name} is not set`
      : `needs the variable ${name}, which is not set`,
    `Set ${name} in .env or in the environment of the hub${orDefault}.`,
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

/** Redacting a password that is an ordinary word would hide that word everywhere. */
function isTelling(value: string): boolean {
  return value.length >= 8 && /[a-z]/i.test(value) && /[^a-z]/i.test(value);
}

/**
 * A hash of what defines a connection, independent of the order in which it is written. It is kept on disk with the lists
 * of the server, where a hash of a short secret could be guessed: so no secret is in it, nor the values of headers.
 */
function fingerprint(
  transports: readonly TransportSpec[],
  { isolation, roots }: Pick<ServerSpec, 'isolation' | 'roots'>,
  secrets: ReadonlySet<string>,
): string {
  const parts = transports.map((transport) => {
    if (transport.type === 'http' || transport.type === 'sse')
      return [transport.type, transport.url, Object.keys(transport.headers).sort()];
    const { type, args, env, cwd } = transport;
    return [type, transport.type === 'stdio' ? transport.command : transport.builtin, args, sorted(env), cwd];
  });
  const all = [
    ...parts,
    ...(isolation === 'shared' ? [] : [isolation]),
    ...(roots === 'none' ? [] : [`roots: ${roots}`]),
  ];
  return createHash('sha256').update(withoutSecrets(all, secrets)).digest('hex');
}

/** The JSON text with a placeholder for each secret; the longest first, as one may contain another. */
function withoutSecrets(value: unknown, secrets: ReadonlySet<string>): string {
  const hidden = [...secrets].filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? hidden.reduce((text, secret) => text.replaceAll(secret, '\0'), member) : member,
  );
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1));
}
