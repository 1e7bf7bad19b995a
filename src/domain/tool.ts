/** A tool as its server describes it. */
export interface ToolDefinition {
  readonly name: string;
  /** The definition as JSON text. An invalid schema is made valid. */
  readonly text: string;
  /** Of everything but the name and the parts that say nothing to models and users: `sha256:` and 64 hex digits. */
  readonly fingerprint: string;
  /** From the server's own annotations. Used only to retry a call, never to widen rights. */
  readonly safeToRepeat: boolean;
  /** What the server's annotations claim about the tool. */
  readonly hints: ToolHints;
  /** Arguments that 2026-07-28 HTTP requests repeat in headers. */
  readonly mirrored: readonly MirroredArgument[];
}

export interface ToolHints {
  /** Null: not stated. */
  readonly readOnly: boolean | null;
  readonly destructive: boolean | null;
}

export interface MirroredArgument {
  readonly header: string;
  readonly path: readonly string[];
}
