import {
  type Attributes,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { CallFacts, CallTracer } from '../../calls/index.ts';

/**
 * Spans as the OpenTelemetry conventions for MCP name them. The hub is the server of its agents, so each call is a
 * server span; its parent is the span that the agent names, and the upstream's own spans become its children.
 */
export function createCallTracer(tracer: Tracer): CallTracer {
  const propagator = new W3CTraceContextPropagator();
  return {
    begin(at, method, meta) {
      const { traceparent, tracestate, ...others } = readMeta(meta);
      const named = { traceparent: textOf(traceparent), tracestate: textOf(tracestate) };
      const context = propagator.extract(ROOT_CONTEXT, named, defaultTextMapGetter);
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, startTime: at }, context);
      const own: Record<string, string> = {};
      propagator.inject(trace.setSpan(context, span), own, defaultTextMapSetter);
      // Of a state in which nothing is valid nothing is left.
      if (own.tracestate === '') delete own.tracestate;
      return {
        meta: JSON.stringify({ ...others, ...own }).slice(1, -1),
        headers: Object.entries(own).flat(),
        end(facts) {
          if (span.isRecording()) {
            if (facts.server !== undefined && countable.has(method)) span.updateName(`${method} ${facts.name}`);
            span.setAttributes(attributesOf(method, facts));
            if (isFailure(facts)) span.setStatus(errorStatus(facts));
          }
          span.end(at + facts.durationMs);
        },
      };
    },
  };
}

/** Of these a server has a few; of the others, and of names that nobody has, there may be any number. */
const countable: ReadonlySet<string> = new Set(['tools/call', 'prompts/get']);

function readMeta(meta: string): Readonly<Record<string, unknown>> {
  return JSON.parse(`{${meta}}`) as Record<string, unknown>; // members of an object, by the contract of the tracer
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Without a value, an attribute is left out. */
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
    'quartermaster.call_id': facts.callId,
    'quartermaster.run': facts.run,
    'quartermaster.outcome': facts.outcome,
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

/** A server that asks back, or takes its time, has not failed. */
function isFailure({ outcome }: CallFacts): boolean {
  return outcome !== 'ok' && outcome !== 'input_required' && outcome !== 'task';
}

/** Whole pages of a failed answer are for the ledger. */
const longestError = 1000;

function errorStatus({ error, outcome }: CallFacts): { code: SpanStatusCode; message: string } {
  const message = error === undefined || error === '' ? outcome : error;
  return { code: SpanStatusCode.ERROR, message: message.slice(0, longestError) };
}
