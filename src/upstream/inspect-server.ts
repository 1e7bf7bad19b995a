import type { Catalog, ToolDefinition, TransportKind } from '../domain/index.ts';
import { type DiscoveryOutcome, discover } from './catalog/discovery.ts';
import type { AttemptOutcome } from './connecting/attempt.ts';
import type { Connection } from './connecting/connection.ts';
import type { ServerDescription } from './connecting/handshake.ts';
import { type FallbackOutcome, openFirstTransport, type Step } from './connecting/transport-fallback.ts';
import { redactedFailure } from './failures.ts';
import { deaf, type ProbeDeps, type ProbeOptions, toAttempt } from './probe.ts';

/** Everything that a server reports about itself. */
export interface Inspection {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string } | undefined;
  readonly instructions: string | undefined;
  readonly protocolVersion: string;
  readonly transport: TransportKind;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly tools: readonly ToolDefinition[];
  readonly resources: readonly Listed[];
  readonly resourceTemplates: readonly Listed[];
  readonly prompts: readonly Listed[];
  /** Lists that could not be read, and warnings about the others. */
  readonly warnings: readonly string[];
}

type Listed = Readonly<Record<string, unknown>>;

/** Opens a new connection, reads every list and closes. Rejects with HubError if it cannot connect. */
export async function inspectServer(deps: ProbeDeps, options: ProbeOptions): Promise<Inspection> {
  const onAttempt = (step: Step, outcome: AttemptOutcome, durationMs: number): void =>
    options.onTried?.(toAttempt(deps, step, outcome, durationMs));
  const outcome = await openFirstTransport({ ...deps, events: deaf }, { ...options, known: undefined, onAttempt });
  if (outcome.kind === 'failed') throw redactedFailure(outcome.failure.error, deps.redact);
  const { transport, agreement } = outcome;
  try {
    const catalog = await readCatalog(deps, options, outcome);
    const facts = { about: agreement.about, protocolVersion: agreement.version, transport: transport.kind };
    return inspectionOf(facts, catalog, deps.redact);
  } finally {
    await transport.close();
  }
}

/** The same over a connection that is open already. */
export function inspectionOf(
  { about, protocolVersion, transport }: Pick<Connection, 'about' | 'protocolVersion' | 'transport'>,
  { tools, resources, templates, prompts, warnings }: Catalog,
  redact: (text: string) => string,
): Inspection {
  return {
    serverInfo: identityOf(about),
    instructions: about.instructions,
    protocolVersion,
    transport,
    capabilities: about.capabilities,
    tools,
    resources: resources.map(asListed),
    resourceTemplates: templates.map(asListed),
    prompts: prompts.map(asListed),
    warnings: warnings.map(redact),
  };
}

/** All lists that can be read. */
async function readCatalog(
  { clock }: ProbeDeps,
  { timeoutMs, signal }: ProbeOptions,
  { transport, agreement }: Extract<FallbackOutcome, { kind: 'opened' }>,
): Promise<Catalog> {
  const options = { now: clock.now(), timeoutMs, signal, before: undefined };
  const outcome = await discover(transport, agreement, options);
  if (outcome.kind === 'found') return outcome.catalog;
  const rest = await discover(transport, { ...agreement, hasTools: false }, options);
  const reason = `tools/list failed: ${outcome.reason}`;
  const { catalog } = rest as DiscoveryOutcome & { kind: 'found' }; // only tools make it fail
  return { ...catalog, warnings: [reason, ...catalog.warnings] };
}

function asListed({ text }: { readonly text: string }): Listed {
  return JSON.parse(text) as Listed; // written by the reader of the list
}

function identityOf({ serverInfo }: ServerDescription): Inspection['serverInfo'] {
  const { name, version, title } = serverInfo ?? {};
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  return { name, version, ...(typeof title === 'string' ? { title } : {}) };
}
