export type { BuiltinUsage } from './builtin-kind.ts';
export { createBuiltins, serveBuiltin } from './builtins.ts';
export { usages as builtinUsages } from './usages.ts';
