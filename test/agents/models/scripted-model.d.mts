export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
}

export interface Asked {
  readonly tools: readonly OfferedTool[];
  readonly results: readonly string[];
}

export type Reply = { readonly call: { readonly tool: OfferedTool; readonly args: object } } | { readonly say: string };

export type Script = (asked: Asked) => Reply | Promise<Reply>;

export interface Turn {
  readonly atMs: number;
  readonly tools: readonly string[];
  readonly results: readonly string[];
}

export interface ScriptedModel {
  readonly url: string;
  readonly turns: readonly Turn[];
  readonly others: readonly string[];
  close(): Promise<void>;
}

export function startModel(script: Script): Promise<ScriptedModel>;
