import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type Clock, type Logger, sleep, version } from '../../base/index.ts';
import type { CallTracer } from '../../calls/index.ts';
import { createCallTracer } from './call-tracer.ts';
import { createCollectorWatch, watchedExporter } from './collector-watch.ts';

/** Traces of this process's calls, on their way to a collector. */
export interface Tracing {
  readonly tracer: CallTracer;
  /** Sends what is left, within two seconds. */
  close(): Promise<void>;
}

export interface TracingDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longer than a collector needs, and no longer than somebody waits who pressed Ctrl-C. */
const flushMs = 2000;

/** The SDK reads the OTEL_ variables of the process by itself: where to send, how often, which share. */
export function openTracing({ clock, logger }: TracingDeps): Tracing {
  const watch = createCollectorWatch(logger);
  const provider = sayingWhatIsWrong(logger, () => {
    const exporter = watchedExporter(new OTLPTraceExporter(), watch);
    return new BasicTracerProvider({ resource: resource(), spanProcessors: [new BatchSpanProcessor(exporter)] });
  });
  return {
    tracer: createCallTracer(provider.getTracer('quartermaster', version)),
    async close() {
      const enough = new AbortController();
      const late = sleep(clock, flushMs, enough.signal).then(() => true);
      // What could not be sent was told by the watch.
      const sent = provider.shutdown().then(
        () => false,
        () => false,
      );
      if (await Promise.race([sent, late])) watch.failed(`no answer within ${flushMs} ms`);
      enough.abort();
    },
  };
}

/** What the operator says of this process counts more than what it says of itself. */
function resource() {
  const own = resourceFromAttributes({ 'service.name': 'quartermaster', 'service.version': version });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** A variable that the SDK cannot use is told once, when it reads it; what happens later, the watch tells. */
function sayingWhatIsWrong<T>(logger: Logger, build: () => T): T {
  const say = (problem: string): void => logger.warn('telemetry_setting', { problem });
  const silent = (): void => {};
  const diagnostics = { error: say, warn: say, info: silent, debug: silent, verbose: silent };
  diag.setLogger(diagnostics, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  try {
    return build();
  } finally {
    diag.disable();
  }
}
