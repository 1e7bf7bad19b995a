import { expect, test } from 'vitest';
import { wantsTraces } from './open-traces.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test.each([
  [endpoint],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'console, otlp' }],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'false' }],
  [{ ...endpoint, OTEL_SDK_DISABLED: '' }],
])('%j asks for traces', (env) => {
  expect(wantsTraces(env)).toBe(true);
});

test.each([
  [{}],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' }],
  [{ OTEL_SERVICE_NAME: 'hub' }],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'console' }],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }],
])('%j does not', (env) => {
  expect(wantsTraces(env)).toBe(false);
});
