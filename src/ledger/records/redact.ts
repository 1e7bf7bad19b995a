/** Removes secrets from text that is about to be written. */
export interface Redact {
  /** JSON text in, JSON text out. Of more than `most` characters, the beginning is cut off and redacted. */
  json(text: string, most?: number): string;
  /** Keeps at most `most` characters. The text is cut before it is redacted. */
  message(text: string, most?: number): string;
}
