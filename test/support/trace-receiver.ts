import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type HttpFixture, startHttpFixture } from './fixture-servers.ts';
import { eventually } from './within.ts';

/** A span as the receiver read it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status?: { readonly code?: string; readonly message?: string };
  /** Of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
  /** Of the request that brought it. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface TraceReceiver extends HttpFixture {
  /** All that came so far. */
  received(): readonly ReceivedSpan[];
  /** The same, once there are that many. */
  spans(count: number): Promise<readonly ReceivedSpan[]>;
}

/** A process that takes traces, gone after the test. */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-traces-'));
  const out = join(folder, 'spans.jsonl');
  const fixture = await startHttpFixture('otlp-receiver.mjs', ['--out', out]);
  onTestFinished(async () => {
    await fixture.stop();
    await rm(folder, { recursive: true, force: true });
  });
  function received(): readonly ReceivedSpan[] {
    if (!existsSync(out)) return [];
    const lines = readFileSync(out, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as ReceivedSpan); // the fixture's own form
  }
  return {
    url: fixture.url,
    get pid() {
      return fixture.pid;
    },
    stop: fixture.stop,
    restart: fixture.restart,
    received,
    spans: (count) =>
      eventually(() => {
        const spans = received();
        return spans.length >= count ? spans : undefined;
      }, `${count} spans`),
  };
}
