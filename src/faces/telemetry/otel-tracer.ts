import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { CallFacts, CallSpan, CallTracer } from '../../calls/index.ts';

/**
 * Names spans by the OpenTelemetry conventions for MCP. To its agents the hub is a server, so each call is a server
 * span. Its parent is the span the agent names, and the upstream's own spans become its children.
 */
export function createCallTracer(tracer: Tracer): CallTracer {
  return {
    begin(at, method, meta) {
      // Most callers name no span, so skip the parsing.
      if (meta.includes('"trace')) {
        const { context, others } = parentIn(meta);
        return new TracedSpan(tracer.startSpan(method, options(at), context), others, at, method);
      }
      return new TracedSpan(tracer.startSpan(method, options(at), ROOT_CONTEXT), meta, at, method);
    },
  };
}

class TracedSpan implements CallSpan {
  readonly meta: string;
  readonly #span: Span;
  readonly #at: number;
  readonly #method: string;

  constructor(span: Span, others: string, at: number, method: string) {
    this.#span = span;
    this.#at = at;
    this.#method = method;
    const state = this.#state();
    const own = `"traceparent":"${this.#parent()}"${state === undefined ? '' : `,"tracestate":${JSON.stringify(state)}`}`;
    this.meta = others === '' ? own : `${others},${own}`;
  }

  /** Sent to HTTP servers only. */
  get headers(): readonly string[] {
    const state = this.#state();
    return ['traceparent', this.#parent(), ...(state === undefined ? [] : ['tracestate', state])];
  }

  end(facts: CallFacts): void {
    const span = this.#span;
    if (span.isRecording()) {
      if (facts.server !== undefined && countable.has(this.#method)) span.updateName(`${this.#method} ${facts.name}`);
      span.setAttributes(attributesOf(this.#method, facts));
      if (isFailure(facts)) span.setStatus(errorStatus(facts));
    }
    span.end(this.#at + facts.durationMs);
  }

  #parent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags === 0 ? '00' : '01'}`;
  }

  /** A state without a valid entry serializes to an empty string. */
  #state(): string | undefined {
    return this.#span.spanContext().traceState?.serialize() || undefined;
  }
}

interface Parent {
  readonly context: Context;
  /** The other members of `_meta`. */
  readonly others: string;
}

function options(startTime: number): SpanOptions {
  return { kind: SpanKind.SERVER, startTime };
}

function parentIn(meta: string): Parent {
  const { traceparent, tracestate, ...others } = readMeta(meta);
  const named = { traceparent: textOf(traceparent), tracestate: textOf(tracestate) };
  const context = new W3CTraceContextPropagator().extract(ROOT_CONTEXT, named, defaultTextMapGetter);
  return { context, others: JSON.stringify(others).slice(1, -1) };
}

/**
 * Methods whose names are safe in a span name: a server has few tools and prompts, but any number of resources.
 * Names that no server has are unbounded too.
 */
const countable: ReadonlySet<string> = new Set(['tools/call', 'prompts/get']);

function readMeta(meta: string): Readonly<Record<string, unknown>> {
  return JSON.parse(`{${meta}}`) as Record<string, unknown>; // the tracer's contract: members of an object
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An attribute without a value is left out. */
function attributesOf(method: string, facts: CallFacts): Attributes {
  const { connection } = facts;
  return {
    'mcp.method.name': method,
    ...nameAttributes(method, facts.name),
    'error.type': isFailure(facts) ? facts.outcome : undefined,
    'mcp.transport': connection?.transport,
    'mcp.protocol_version': connection?.protocolVersion ?? undefined,
    'mcp.session_id': connection?.sessionId ?? undefined,
    'mcp.http_status': facts.httpStatus,
    'mcp.retries': facts.retries,
    'quartermaster.agent': facts.agent,
    'quartermaster.server': facts.server,
    'quartermaster.tool': facts.tool,
    'quartermaster.decision': facts.decision,
    'quartermaster.rule': facts.rule ?? undefined,
    'quartermaster.rule_source': facts.ruleSource ?? undefined,
    'quartermaster.call_id': facts.callId,
    'quartermaster.run': facts.run,
    'quartermaster.outcome': facts.outcome,
    'quartermaster.cached': facts.cached || undefined,
  };
}

function nameAttributes(method: string, name: string): Attributes {
  switch (method) {
    case 'tools/call':
      return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
    case 'prompts/get':
      return { 'gen_ai.prompt.name': name };
    case 'resources/read':
    case 'resources/subscribe':
      return { 'mcp.resource.uri': name };
    default:
      return {};
  }
}

/** A server that needs input or starts a task has not failed. */
function isFailure({ outcome }: CallFacts): boolean {
  return outcome !== 'ok' && outcome !== 'input_required' && outcome !== 'task' && outcome !== 'pending';
}

/** Span messages stay short; the ledger has the full error. */
const longestError = 1000;

function errorStatus({ error, outcome }: CallFacts): { code: SpanStatusCode; message: string } {
  const message = error === undefined || error === '' ? outcome : error;
  return { code: SpanStatusCode.ERROR, message: message.slice(0, longestError) };
}
