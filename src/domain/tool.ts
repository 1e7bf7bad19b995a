/** One tool as its server describes it. */
export interface ToolDefinition {
  readonly name: string;
  /** The definition as JSON text, with the schema made valid where the server's was not. */
  readonly text: string;
  /** SHA-256 over the canonical definition: name, title, description, schemas, annotations. */
  readonly fingerprint: string;
  /** What the server itself says about repeating a call. Only ever used to repeat, never to widen rights. */
  readonly safeToRepeat: boolean;
  /** What the server says the tool does. */
  readonly hints: ToolHints;
  /** Arguments that a 2026 HTTP request mirrors in headers. */
  readonly mirrored: readonly MirroredArgument[];
}

export interface ToolHints {
  /** Null where it says nothing. */
  readonly readOnly: boolean | null;
  readonly destructive: boolean | null;
}

export interface MirroredArgument {
  readonly header: string;
  readonly path: readonly string[];
}
