/**
 * Head nouns of the types that rooms export, besides those of the glossary. A new noun that is neither of the field nor
 * plain English needs an entry in the glossary.
 */

/** Words of MCP, Node, HTTP, tracing and programming in general. */
export const fieldWords: readonly string[] = [
  ...['annotation', 'argument', 'block', 'body', 'byte', 'child', 'clock', 'code', 'compiler'],
  ...['content', 'context', 'dep', 'digest', 'elicitation', 'endpoint', 'error', 'event', 'exchange', 'exit'],
  ...['field', 'file', 'gateway', 'guard', 'handle', 'handler', 'header', 'host', 'id', 'keychain', 'kind'],
  ...['level', 'listener', 'literal', 'lock', 'log', 'logger', 'message', 'meter', 'option', 'origin', 'output'],
  ...[
    'param',
    'path',
    'program',
    'progress',
    'prompt',
    'queue',
    'reader',
    'record',
    'redactor',
    'ref',
    'reference',
    'reply',
  ],
  ...['resource', 'root', 'row', 'setting', 'snapshot', 'span', 'spec', 'state', 'store', 'stream'],
  ...['template', 'timeout', 'timer', 'tool', 'tracer', 'tracing', 'tree', 'uri', 'value', 'version', 'watch'],
];

/** Words that every reader knows, in their ordinary meaning. */
export const plainWords: readonly string[] = [
  ...['announcer', 'answer', 'archive', 'change', 'collision', 'control', 'detail', 'diagnosis'],
  ...['dialect', 'document', 'end', 'fact', 'fault', 'form', 'health', 'inspection', 'item', 'life'],
  ...['limit', 'line', 'list', 'memory', 'mode', 'obstacle', 'order', 'outcome', 'pin', 'place', 'reason'],
  ...['refusal', 'seal', 'source', 'statistic', 'subject', 'summary', 'text', 'usage'],
];

/** Types that are named by a verb, a participle or an adjective. */
export const withoutHeadNoun: readonly string[] = [
  'Attached',
  'CallToDecide',
  'Edited',
  'Linked',
  'Listed',
  'Plain',
  'Redact',
  'ResolveAll',
  'Serving',
  'ToolKindOf',
];
