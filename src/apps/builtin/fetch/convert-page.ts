import { createBoundedText } from './bounded-text.ts';
import { createElementReader } from './elements.ts';
import { createPageWriter, type Style } from './page-writer.ts';

export interface Converted {
  readonly title: string;
  readonly text: string;
  /** The page has more than was converted. */
  readonly isCut: boolean;
}

export interface ConvertOptions {
  readonly style: Style;
  readonly base: URL;
  /** In characters of the result, because absolute links may make it longer than the page. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Conversion runs in the event loop that serves all calls, so it yields after this many characters. */
export const sliceChars = 8 * 1024;

export async function convertPage(
  { breathe }: { readonly breathe: () => Promise<unknown> },
  html: string,
  options: ConvertOptions,
): Promise<Converted> {
  const { Tokenizer } = await import('htmlparser2');
  const output = createBoundedText(options.limit);
  const page = createPageWriter(output, { ...options, fence: html.includes('```') ? '~~~~' : '```' });
  const tokenizer = new Tokenizer({}, createElementReader(html, page));
  for (let at = 0; at < html.length && !output.isFull; at += sliceChars) {
    tokenizer.write(html.slice(at, at + sliceChars));
    output.settle();
    await breathe();
    options.signal.throwIfAborted();
  }
  tokenizer.end();
  return { title: page.title(), text: output.all(), isCut: output.isFull };
}
