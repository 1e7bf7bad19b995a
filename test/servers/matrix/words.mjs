import { z } from 'zod';

/** The one argument that every tool takes. */
export const nonced = z.object({ nonce: z.string() });

/** The answer of a tool. */
export function said(text) {
  return { content: [{ type: 'text', text }] };
}

export function failed(text) {
  return { ...said(text), isError: true };
}

/** The answer of a prompt. */
export function says(text) {
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
