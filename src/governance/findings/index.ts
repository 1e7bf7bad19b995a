export type { DefinitionFinding } from './definition-finding.ts';
export { definitionsOf, findInDefinitions, type ListedDefinitions } from './find-in-definitions.ts';
export { type ScannedDefinitions, scanDefinition } from './scan-definition.ts';
