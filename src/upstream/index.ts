export { type BuiltinOrder, type Builtins, type Children, createChildren, type Peer } from './children/index.ts';
export { createUpstream } from './create-upstream.ts';
export type { UpstreamControl, UpstreamDispatch, UpstreamHandles } from './handles.ts';
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
export type { SeatRequest, Seats } from './seats.ts';
export { createStartQueue } from './start-queue.ts';
export type { Hearing, WireCall, WireError, WireFailure, WireReply, WireRequest, WireResult } from './wire.ts';
