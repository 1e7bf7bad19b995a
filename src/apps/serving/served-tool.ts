import type { z } from 'zod';

/** A tool of a server that we run ourselves. */
export interface ServedTool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses it. */
  readonly description: string;
  /** MCP tool annotations. A hub that trusts the server bases decisions on them. */
  readonly annotations: ToolAnnotations;
  /** The schema of the arguments; the listed JSON Schema is derived from it. */
  readonly input: z.ZodObject;
  /** Gets arguments that passed `input`. The caller reads the message of a ToolFault it throws. */
  run(args: unknown, context: ToolContext): Promise<ToolOutput>;
}

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** The tool reaches beyond what the operator set up: the web. */
  readonly openWorldHint: boolean;
}

export interface ToolContext {
  /** Aborts when the caller cancels, or when the server is closed. */
  readonly signal: AbortSignal;
  /** The hub's agent that calls, to share the server fairly. A program that is no hub has none. */
  readonly agent?: string | undefined;
}

/** Text for the model, and optionally the same as a value, for programs. */
export interface ToolOutput {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** Tells the model why there is no result and what to do instead. Any other thrown error is a bug. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';
}

/** Ties the type of the arguments to their schema. */
export function defineTool<Input extends z.ZodObject>(
  tool: Omit<ServedTool, 'input' | 'run'> & {
    readonly input: Input;
    run(args: z.output<Input>, context: ToolContext): Promise<ToolOutput>;
  },
): ServedTool {
  // The server validates with `input` first and passes the output.
  return { ...tool, run: (args, context) => tool.run(args as z.output<Input>, context) };
}
