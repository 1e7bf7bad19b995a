export type { Child } from './child.ts';
export type { BuiltinOrder, Builtins, ChildExit, ChildStreams } from './child-streams.ts';
export { type Children, type ChildrenOptions, createChildren } from './children.ts';
export type { ChildSpec } from './spawn-group.ts';
export type { StderrLogs } from './stderr-logs.ts';
export { lastLines, lastStderrLine } from './stderr-tail.ts';
