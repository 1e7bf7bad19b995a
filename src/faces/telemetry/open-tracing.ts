import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type Clock, type Logger, sleep, version } from '../../base/index.ts';
import type { CallTracer } from '../../calls/index.ts';
import { createCollectorWatch, watchedExporter } from './collector-watch.ts';
import { createCallTracer } from './otel-tracer.ts';

/** Exports traces of this process's calls to a collector. */
export interface Tracing {
  readonly tracer: CallTracer;
  /** Sends the remaining spans, within two seconds. */
  close(): Promise<void>;
}

export interface TracingDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** More than a collector needs, and no longer than a person waits after Ctrl-C. */
const flushMs = 2000;

/** The SDK reads the OTEL_ variables of the process itself: endpoint, export interval, sampling ratio. */
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
      // The watch has logged failed exports already.
      const sent = provider.shutdown().then(
        () => false,
        () => false,
      );
      if (await Promise.race([sent, late])) watch.failed(`no answer within ${flushMs} ms`);
      enough.abort();
    },
  };
}

/** Attributes from the operator's environment override the hub's own. */
function resource() {
  const own = resourceFromAttributes({ 'service.name': 'quartermaster', 'service.version': version });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Logs a variable that the SDK cannot use once, while the SDK reads it. The watch logs later failures. */
function sayingWhatIsWrong<T>(logger: Logger, build: () => T): T {
  const say = (problem: string): void => logger.warn('telemetry.setting-ignored', { problem });
  const silent = (): void => {};
  const diagnostics = { error: say, warn: say, info: silent, debug: silent, verbose: silent };
  diag.setLogger(diagnostics, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  try {
    return build();
  } finally {
    diag.disable();
  }
}
