export type { BuiltinUsage } from './builtin-kind.ts';
export { createBuiltins, serveBuiltin } from './builtins.ts';
export { findGit } from './git/find-git.ts';
export { guardedGitEnvironment } from './git/guarded-environment.ts';
export { runGit } from './git/run-git.ts';
export { usages as builtinUsages } from './usages.ts';
