import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../../base/index.ts';

/** Tells once that the collector does not take traces, and once that it does again. */
export interface CollectorWatch {
  failed(reason: string): void;
  took(): void;
}

export function createCollectorWatch(logger: Logger): CollectorWatch {
  let away = false;
  return {
    failed(reason) {
      if (!away) logger.warn('traces_not_taken', { reason, note: 'Calls go on; their traces are lost meanwhile.' });
      away = true;
    },
    took() {
      if (away) logger.info('traces_taken_again');
      away = false;
    },
  };
}

export function watchedExporter(exporter: SpanExporter, watch: CollectorWatch): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) watch.took();
        // The collector's own answer stays out: nobody knows what it repeats.
        else watch.failed(reasonOf(result.error));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

function reasonOf(error: (Error & { readonly code?: unknown }) | undefined): string {
  const said = error?.message ?? '';
  // An HTTP status, where there is one; the names of network errors are in their texts already.
  const status = typeof error?.code === 'number' ? `HTTP ${error.code}` : '';
  return [status, said].filter((part) => part !== '').join(' ') || 'no reason given';
}
