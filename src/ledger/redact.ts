/** Takes secrets out of what is about to be written. */
export interface Redact {
  /** JSON text in, JSON text out. */
  json(text: string): string;
  message(text: string): string;
}
