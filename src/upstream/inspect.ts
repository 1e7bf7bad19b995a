import { isJsonObject } from '../base/index.ts';
import type { ToolDefinition, TransportKind } from '../domain/index.ts';
import type { AttemptOutcome } from './attempt.ts';
import { openChain, type Step } from './chain.ts';
import { redacted } from './failures.ts';
import type { SelfPortrait } from './handshake.ts';
import { deaf, listTools, type ProbeDeps, type ProbeOptions, toAttempt } from './probe.ts';
import { ask, controlRequest, type Wire } from './wire.ts';

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

/** A list without end is a defect of the server, not a reason to wait without end. */
const maxPages = 64;
const maxItems = 10_000;

/** Connects afresh, reads every list and closes; rejects with HubError where there is no connection. */
export async function inspectServer(deps: ProbeDeps, options: ProbeOptions): Promise<Inspection> {
  const onAttempt = (step: Step, outcome: AttemptOutcome, durationMs: number): void =>
    options.onTried?.(toAttempt(deps, step, outcome, durationMs));
  const outcome = await openChain({ ...deps, events: deaf }, { ...options, known: undefined, onAttempt });
  if (outcome.kind === 'failed') throw redacted(outcome.failure.error, deps.redact);
  const { wire, agreement } = outcome;
  const { about } = agreement;
  const warnings: string[] = [];
  const read = (method: string, member: string, capability: string): Promise<readonly Listed[]> =>
    isJsonObject(about.capabilities[capability])
      ? readList(wire, options, { method, member }, (warning) => warnings.push(deps.redact(warning)))
      : Promise.resolve([]);
  try {
    const listed = await listTools(deps, options, outcome);
    if (listed.kind === 'failed') warnings.push(deps.redact(`tools/list failed: ${listed.reason}`));
    else warnings.push(...listed.catalog.warnings);
    return {
      serverInfo: identityOf(about),
      instructions: about.instructions,
      protocolVersion: agreement.version,
      transport: wire.transport,
      capabilities: about.capabilities,
      tools: listed.kind === 'found' ? listed.catalog.tools : [],
      resources: await read('resources/list', 'resources', 'resources'),
      resourceTemplates: await read('resources/templates/list', 'resourceTemplates', 'resources'),
      prompts: await read('prompts/list', 'prompts', 'prompts'),
      warnings,
    };
  } finally {
    await wire.close();
  }
}

/** Page by page; what came before a failure counts. */
async function readList(
  wire: Wire,
  { timeoutMs, signal }: ProbeOptions,
  { method, member }: { readonly method: string; readonly member: string },
  warn: (warning: string) => void,
): Promise<readonly Listed[]> {
  const items: Listed[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && items.length < maxItems; page++) {
    const reply = await ask(wire, controlRequest(method, cursor === undefined ? {} : { cursor }, timeoutMs), signal);
    const list = reply.kind === 'result' ? reply.value[member] : undefined;
    if (reply.kind !== 'result' || !Array.isArray(list)) {
      warn(`${method} failed: ${whyNot(reply)}`);
      return items;
    }
    items.push(...list.filter(isJsonObject));
    const next = reply.value.nextCursor;
    if (typeof next !== 'string') return items;
    cursor = next;
  }
  warn(`${method} did not end; ${items.length} entries were taken`);
  return items;
}

function whyNot(reply: Awaited<ReturnType<typeof ask>>): string {
  if (reply.kind === 'failed') return reply.error.message;
  return reply.kind === 'error' ? reply.message : 'it is not a list';
}

function identityOf({ serverInfo }: SelfPortrait): Inspection['serverInfo'] {
  const { name, version, title } = serverInfo ?? {};
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  return { name, version, ...(typeof title === 'string' ? { title } : {}) };
}
