import type { Catalog, ToolDefinition, TransportKind } from '../domain/index.ts';
import type { AttemptOutcome } from './attempt.ts';
import { type ChainOutcome, openChain, type Step } from './chain.ts';
import { type DiscoveryOutcome, discover } from './discovery.ts';
import { redacted } from './failures.ts';
import type { SelfPortrait } from './handshake.ts';
import { deaf, type ProbeDeps, type ProbeOptions, toAttempt } from './probe.ts';

/** Everything that a server says of itself. */
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
  /** What could not be read, and what is odd about the rest. */
  readonly warnings: readonly string[];
}

type Listed = Readonly<Record<string, unknown>>;

/** Connects afresh, reads every list and closes; rejects with HubError where there is no connection. */
export async function inspectServer(deps: ProbeDeps, options: ProbeOptions): Promise<Inspection> {
  const onAttempt = (step: Step, outcome: AttemptOutcome, durationMs: number): void =>
    options.onTried?.(toAttempt(deps, step, outcome, durationMs));
  const outcome = await openChain({ ...deps, events: deaf }, { ...options, known: undefined, onAttempt });
  if (outcome.kind === 'failed') throw redacted(outcome.failure.error, deps.redact);
  const { wire, agreement } = outcome;
  const { about } = agreement;
  try {
    const { tools, resources, templates, prompts, warnings } = await readOffer(deps, options, outcome);
    return {
      serverInfo: identityOf(about),
      instructions: about.instructions,
      protocolVersion: agreement.version,
      transport: wire.transport,
      capabilities: about.capabilities,
      tools,
      resources: resources.map(asListed),
      resourceTemplates: templates.map(asListed),
      prompts: prompts.map(asListed),
      warnings: warnings.map(deps.redact),
    };
  } finally {
    await wire.close();
  }
}

/** Everything but what fails. */
async function readOffer(
  { clock }: ProbeDeps,
  { timeoutMs, signal }: ProbeOptions,
  { wire, agreement }: Extract<ChainOutcome, { kind: 'opened' }>,
): Promise<Catalog> {
  const options = { now: clock.now(), timeoutMs, signal, before: undefined };
  const outcome = await discover(wire, agreement, options);
  if (outcome.kind === 'found') return outcome.catalog;
  const rest = await discover(wire, { ...agreement, hasTools: false }, options);
  const reason = `tools/list failed: ${outcome.reason}`;
  const { catalog } = rest as DiscoveryOutcome & { kind: 'found' }; // only tools make it fail
  return { ...catalog, warnings: [reason, ...catalog.warnings] };
}

function asListed({ text }: { readonly text: string }): Listed {
  return JSON.parse(text) as Listed; // written by the reader of the list
}

function identityOf({ serverInfo }: SelfPortrait): Inspection['serverInfo'] {
  const { name, version, title } = serverInfo ?? {};
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  return { name, version, ...(typeof title === 'string' ? { title } : {}) };
}
