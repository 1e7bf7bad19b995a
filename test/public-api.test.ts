import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { exportsOf, parseSource } from './architecture/source-file.ts';

const root = resolve(import.meta.dirname, '..');

/** What programs may rely on. A name here is a promise: adding one is a decision, removing one breaks somebody. */
const publicNames: readonly string[] = [
  'ApprovalPendingError',
  'HubError',
  'MCPServerError',
  'McpRateLimitError',
  'createHub',
  'errorTable',
  'type Agent',
  'type AgentOptions',
  'type AgentPrompt',
  'type AgentResource',
  'type AgentResourceTemplate',
  'type AgentTool',
  'type AnswerHandlers',
  'type AudioContent',
  'type BackoffEvent',
  'type BackoffOptions',
  'type CallAllOptions',
  'type CallOptions',
  'type CallOrder',
  'type CallOutcome',
  'type CallProgress',
  'type Clock',
  'type CompletionArgument',
  'type CompletionRef',
  'type CompletionResult',
  'type ContentBlock',
  'type CreateHubOptions',
  'type Elicitation',
  'type ElicitationAnswer',
  'type EmbeddedResource',
  'type ErrorCode',
  'type ErrorDetails',
  'type ErrorRow',
  'type HeldCall',
  'type Hub',
  'type ImageContent',
  'type LinkedResource',
  'type LogFields',
  'type LogLevel',
  'type LogMessage',
  'type Logger',
  'type ProgramApprovals',
  'type PromptArgument',
  'type PromptMessage',
  'type PromptResult',
  'type ReadResult',
  'type ReceivedContent',
  'type RequestOrigin',
  'type ResourceContents',
  'type Root',
  'type SamplingAnswer',
  'type SamplingMessage',
  'type SamplingRequest',
  'type ServerState',
  'type ServerStatus',
  'type TextContent',
  'type Timer',
  'type ToolName',
  'type ToolRef',
  'type ToolResult',
  'type UnknownContent',
  'type WaitOptions',
  'withBackoff',
];

test('the library exports what is listed here, and nothing else', () => {
  const file = join(root, 'src/index.ts');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  expect(namesOf(text), 'list new names in test/public-api.test.ts, or do not export them').toEqual(publicNames);
});

test('types and values are told apart', () => {
  const text = `export { createHub, type Hub } from './hub/index.ts';\nexport type { Configuration } from './domain/index.ts';`;
  expect(namesOf(text)).toEqual(['createHub', 'type Configuration', 'type Hub']);
});

test('the programs that package.json names are there', () => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  expect(Object.keys(bin).sort()).toEqual(['qm', 'quartermaster']);
  for (const file of Object.values(bin)) expect(existsSync(join(root, file)), file).toBe(true);
});

function namesOf(text: string): string[] {
  return exportsOf(parseSource('src/index.ts', text))
    .map(({ name, kind }) => (kind === 'type' ? `type ${name}` : name))
    .sort();
}
