export { type Children, createChildren } from './children/index.ts';
export { type Inspection, inspectServer } from './inspect.ts';
export type { Link } from './link.ts';
export {
  type Probe,
  type ProbeAttempt,
  type ProbeDeps,
  type ProbeOptions,
  type ProbeVerdict,
  probeServer,
} from './probe.ts';
export type { RememberedServer, ServerMemory } from './remembered.ts';
export { createUpstream, type UpstreamControl, type UpstreamDispatch } from './upstream.ts';
export type { WireCall, WireFailure, WireReply, WireRequest, WireResult } from './wire.ts';
