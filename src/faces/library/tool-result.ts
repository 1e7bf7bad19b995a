import { HubError } from '../../base/index.ts';
import type { CallResult, CallTarget } from '../../calls/index.ts';
import { joinedText, type ReceivedContent, receivedContents } from './content.ts';
import type { OperationAnswer } from './operate.ts';

/** A tool's result. `isError` marks a failure that the tool itself reported; every other failure is thrown. */
export interface ToolResult {
  readonly content: readonly ReceivedContent[];
  /** The text blocks of `content`, joined by line breaks; empty if there are none. */
  readonly text: string;
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly server: string;
  readonly tool: string;
  readonly durationMs: number;
  /** The result exactly as the server sent it, as JSON text. */
  readonly raw: string;
}

export type ToolAnswer = CallResult & { readonly kind: 'result' };

/** Throws HubError for everything but the tool's own result. */
export function expectAnswer(
  result: CallResult,
  target: Pick<CallTarget, 'server' | 'subjectName'> | undefined,
): ToolAnswer {
  if (result.kind === 'result') return result;
  if (result.kind === 'failed') throw result.error;
  const where = target === undefined ? {} : { server: target.server, tool: target.subjectName };
  throw new HubError('UPSTREAM_FAILED', `Server "${target?.server ?? ''}" answered with an error: ${result.message}`, {
    hint: `It is the server's own error ${result.code}; check the arguments.`,
    details: { ...where, jsonRpcCode: result.code, jsonRpcError: result.text },
  });
}

export function toToolResult({ answer: { result }, target, durationMs }: OperationAnswer, name: string): ToolResult {
  const { structuredContent, isError } = result.value;
  const content = receivedContents(result.value.content);
  return {
    content,
    text: joinedText(content),
    structuredContent,
    isError: isError === true,
    server: target?.server ?? '',
    tool: target?.ownName ?? name,
    durationMs,
    raw: result.text,
  };
}
