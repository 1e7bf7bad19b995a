export type { Child } from './child.ts';
export { type Children, type ChildrenOptions, type ChildSpec, createChildren } from './children.ts';
export type { BuiltinOrder, Builtins, Peer, PeerExit } from './peer.ts';
export { lastLines, lastWords } from './stderr-tail.ts';
