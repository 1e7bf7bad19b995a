/** Takes secrets out of what is about to be written. */
export interface Redact {
  /** JSON text in, JSON text out. */
  json(text: string): string;
  /** Of a text with more than `most` characters, those; it is cut before it is redacted. */
  message(text: string, most?: number): string;
}
