export { createMetrics, type MetricsDeps, type MetricsHandler } from './create-metrics.ts';
export { createMeter, type Meter } from './meter.ts';
