import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type HttpFixture, startHttpFixture } from './fixture-servers.ts';
import { eventually } from './within.ts';

/** A span as the receiver parsed it. */
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
  /** The resource attributes of the sender. */
  readonly resource: Readonly<Record<string, unknown>>;
  /** The headers of the request that contained it. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface TraceReceiver extends HttpFixture {
  /** All spans received so far. */
  received(): readonly ReceivedSpan[];
  /** Waits for that many spans. */
  spans(count: number): Promise<readonly ReceivedSpan[]>;
}

/** A process that receives traces. Ends with the test. */
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
    return lines.map((line) => JSON.parse(line) as ReceivedSpan); // the fixture's own format
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
