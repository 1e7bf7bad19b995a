import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../../base/index.ts';

/** Logs once when the collector stops accepting traces, and once when it accepts them again. */
export interface CollectorWatch {
  failed(reason: string): void;
  took(): void;
}

export function createCollectorWatch(logger: Logger): CollectorWatch {
  let failing = false;
  return {
    failed(reason) {
      if (!failing)
        logger.warn('telemetry.export-failed', { reason, note: 'Calls go on; their traces are lost meanwhile.' });
      failing = true;
    },
    took() {
      if (failing) logger.info('telemetry.export-resumed');
      failing = false;
    },
  };
}

export function watchedExporter(exporter: SpanExporter, watch: CollectorWatch): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) watch.took();
        // Leave out the collector's response body: it could repeat anything.
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
  // The HTTP status, if there is one. Messages of network errors already contain their code.
  const status = typeof error?.code === 'number' ? `HTTP ${error.code}` : '';
  return [status, said].filter((part) => part !== '').join(' ') || 'no reason given';
}
