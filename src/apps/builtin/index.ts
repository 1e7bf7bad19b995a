export type { BuiltinUsage } from './builtin.ts';
export { createBuiltins, serveBuiltin } from './builtins.ts';
export { usages as builtinUsages } from './usages.ts';
