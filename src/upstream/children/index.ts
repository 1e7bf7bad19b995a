export type { Child, ChildExit } from './child.ts';
export { type Children, type ChildrenOptions, type ChildSpec, createChildren } from './children.ts';
export { lastLines } from './stderr-tail.ts';
