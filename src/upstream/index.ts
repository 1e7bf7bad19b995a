export { allDefinitions, type ServerDefinitions } from './catalog/accepted-definitions.ts';
export { type RememberedServer, rememberedAfter, type ServerMemory } from './catalog/remembered.ts';
export {
  type BuiltinOrder,
  type Builtins,
  type Children,
  type ChildStreams,
  createChildren,
  type StderrLogs,
} from './children/index.ts';
export type { Connection } from './connecting/connection.ts';
export { npmShellScript } from './connecting/guarded-program.ts';
export type { ConnectionOwner, IsolatedConnections } from './connecting/isolated-connections.ts';
export type { ProgramContext } from './connecting/program-context.ts';
export { createStartQueue, type StartQueue } from './connecting/start-queue.ts';
export { createUpstream } from './create-upstream.ts';
export type { UpstreamControl, UpstreamDispatch, UpstreamHandles } from './handles.ts';
export { type Inspection, inspectionOf, inspectServer } from './inspect-server.ts';
export {
  type Probe,
  type ProbeAttempt,
  type ProbeDeps,
  type ProbeOptions,
  type ProbeVerdict,
  probeServer,
} from './probe.ts';
export type { UpdateListener } from './subscriptions/update-listeners.ts';
export type {
  ErrorReply,
  FailedReply,
  PendingRequest,
  RequestHandlers,
  ResultReply,
  UpstreamReply,
  UpstreamRequest,
} from './transport.ts';
