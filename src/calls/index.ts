export { Call, type CallRequest, type CallResult } from './call.ts';
export type { CallMeter } from './call-meter.ts';
export type { CallFacts, CallSpan, CallTracer } from './call-tracer.ts';
export type { CallerChannel } from './channel.ts';
export { type Collision, createNameBook, type NameBook } from './names.ts';
export { outcomeOf } from './outcomes.ts';
export { type CallPathDeps, createCallPath } from './run-call.ts';
export type { View, ViewEntry, ViewSource } from './view.ts';
export { createViews, type Views } from './views.ts';
