import { HubError } from '../../base/index.ts';
import type { CallResult, ViewEntry } from '../../calls/index.ts';

/** What a tool answered. A tool that failed by its own account has `isError`; every other failure is thrown. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly server: string;
  readonly tool: string;
  readonly durationMs: number;
  /** The result exactly as the server sent it, as JSON text. */
  readonly raw: string;
}

/** Text, image, audio or resource, as MCP defines them. */
export interface ContentBlock {
  readonly type: string;
  readonly [member: string]: unknown;
}

export type ToolAnswer = CallResult & { readonly kind: 'result' };

/** Throws HubError for everything that is not the tool's own answer. */
export function expectAnswer(
  result: CallResult,
  target: Pick<ViewEntry, 'server' | 'subjectName'> | undefined,
): ToolAnswer {
  if (result.kind === 'result') return result;
  if (result.kind === 'failed') throw result.error;
  const where = target === undefined ? {} : { server: target.server, tool: target.subjectName };
  throw new HubError('UPSTREAM_FAILED', `Server "${target?.server ?? ''}" answered with an error: ${result.message}`, {
    hint: `It is the server's own error ${result.code}; check the arguments.`,
    details: { ...where, jsonRpcCode: result.code, jsonRpcError: result.text },
  });
}

export function toToolResult({ result }: ToolAnswer, entry: ViewEntry, durationMs: number): ToolResult {
  const { content, structuredContent, isError } = result.value;
  return {
    content: Array.isArray(content) ? content : [],
    structuredContent,
    isError: isError === true,
    server: entry.server,
    tool: entry.tool.name,
    durationMs,
    raw: result.text,
  };
}
