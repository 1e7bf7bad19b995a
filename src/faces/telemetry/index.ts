export { openTracing, type Tracing, type TracingDeps } from './open-tracing.ts';
