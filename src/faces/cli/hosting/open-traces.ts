import type { Logger } from '../../../base/index.ts';
import type { Tracing } from '../../telemetry/index.ts';
import type { CliContext } from '../context.ts';

/** Loads tracing if the standard variables ask for it. */
export async function openTraces({ env, clock }: CliContext, logger: Logger): Promise<Tracing | undefined> {
  if (!wantsTraces(env)) return undefined;
  const say = (problem: string): void => logger.warn('telemetry.setting-ignored', { problem });
  if (!isHttp(endpointOf(env) ?? localCollector)) {
    // The SDK would send them to this machine instead.
    say('OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL; traces are not sent.');
    return undefined;
  }
  const protocol = said(env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL) ?? said(env.OTEL_EXPORTER_OTLP_PROTOCOL) ?? spoken;
  if (protocol !== spoken) say(`OTEL_EXPORTER_OTLP_PROTOCOL is ignored; traces are sent as ${spoken}.`);
  const { openTracing } = await import('../../telemetry/index.ts');
  return openTracing({ clock, logger });
}

const spoken = 'http/protobuf';
const localCollector = 'http://localhost:4318';

/** An endpoint is enough; `otlp` alone means the collector of this machine. */
export function wantsTraces(env: CliContext['env']): boolean {
  if (said(env.OTEL_SDK_DISABLED)?.toLowerCase() === 'true') return false;
  const exporters = said(env.OTEL_TRACES_EXPORTER);
  if (exporters !== undefined) return exporters.split(',').some((name) => name.trim() === 'otlp');
  return endpointOf(env) !== undefined;
}

function endpointOf(env: CliContext['env']): string | undefined {
  return said(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) ?? said(env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

function isHttp(endpoint: string): boolean {
  return URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol);
}

/** An empty variable counts as unset, as OpenTelemetry specifies. */
function said(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}
