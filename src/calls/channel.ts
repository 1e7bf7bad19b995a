/**
 * The way back to the caller while a call is under way. Whoever started the call attaches one; it
 * may detach and another may attach, the call goes on regardless.
 */
export interface CallerChannel {
  progress(params: Readonly<Record<string, unknown>>): void;
}
