export { createMeter, type Meter } from './call-counters.ts';
export { createMetrics, type MetricsDeps, type MetricsHandler } from './create-metrics.ts';
