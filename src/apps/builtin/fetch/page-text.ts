import type { Semaphore } from '../semaphore.ts';
import { convertPage } from './convert-page.ts';
import type { FetchedPage } from './get-page.ts';
import { createDecoder } from './media.ts';
import type { Style } from './page-writer.ts';

export interface PageText {
  readonly text: string;
  readonly title: string;
  /** The converted text exceeded the limit. */
  readonly isCut: boolean;
}

export interface ReadDeps {
  /** Yields to the event loop. */
  readonly breathe: () => Promise<unknown>;
  /**
   * Limits concurrent large pages, because converted all at once none would finish in time. Small pages do not wait.
   */
  readonly largePages: Semaphore;
}

const largeBytes = 256 * 1024;

/** The page as it is, or converted if it is HTML. */
export async function decodeText(
  deps: ReadDeps,
  page: FetchedPage,
  style: Style | 'as-is',
  limit: number,
  signal: AbortSignal,
): Promise<PageText> {
  const endTurn = page.body.length > largeBytes ? await deps.largePages.take(signal) : undefined;
  try {
    const source = await decode(deps, page, signal);
    if (page.shape !== 'html' || style === 'as-is') return { text: source, title: '', isCut: false };
    return await convertPage(deps, source, { style, base: page.url, limit, signal });
  } finally {
    endTurn?.();
  }
}

const sliceBytes = 256 * 1024;

async function decode({ breathe }: ReadDeps, { body, media }: FetchedPage, signal: AbortSignal): Promise<string> {
  const decoder = createDecoder(body, media);
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += sliceBytes) {
    parts.push(decoder.decode(body.subarray(at, at + sliceBytes), { stream: true }));
    await breathe();
    signal.throwIfAborted();
  }
  parts.push(decoder.decode());
  return parts.join('');
}
