import type { z } from 'zod';

/** A tool of a server that we run ourselves. */
export interface ServedTool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses it. */
  readonly description: string;
  /** What the protocol calls hints; a hub that trusts the server decides by them. */
  readonly annotations: ToolAnnotations;
  /** The arguments; what lists show is made of it. */
  readonly input: z.ZodObject;
  /** The arguments have passed `input`. A ToolFault that it throws is what the caller reads. */
  run(args: unknown, context: ToolContext): Promise<ToolAnswer>;
}

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** It reaches beyond what the operator set up: the web. */
  readonly openWorldHint: boolean;
}

export interface ToolContext {
  /** The caller has gone, gave up, or the server is being closed. */
  readonly signal: AbortSignal;
}

/** What the model reads; beside it, for programs, the same as a value. */
export interface ToolAnswer {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** Why there is no result, for the model to act on: what was wrong, and what to do instead. Anything else thrown is a defect. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';
}

/** Ties the type of the arguments to their schema. */
export function defineTool<Input extends z.ZodObject>(
  tool: Omit<ServedTool, 'input' | 'run'> & {
    readonly input: Input;
    run(args: z.output<Input>, context: ToolContext): Promise<ToolAnswer>;
  },
): ServedTool {
  // Whoever serves the tool parses with `input` first, and hands on what came out.
  return { ...tool, run: (args, context) => tool.run(args as z.output<Input>, context) };
}
