import { z } from 'zod';
import type { Clock } from '../../../base/index.ts';
import { defineTool, type ServedTool, type ToolContext, ToolFault, type ToolOutput } from '../../serving/index.ts';
import { createSemaphore } from '../semaphore.ts';
import { cleanText, type Span, takeExcerpt } from './excerpt.ts';
import { type FetchedPage, type GetDeps, type GetOptions, getPage } from './get-page.ts';
import { inTime } from './in-time.ts';
import { decodeText, type ReadDeps } from './page-text.ts';
import type { Style } from './page-writer.ts';

export interface FetchDeps extends Omit<GetDeps & ReadDeps, 'lookups' | 'largePages'> {
  readonly clock: Clock;
}

export interface FetchLimits extends GetOptions {
  readonly timeoutMs: number;
}

export function createFetchTools(deps: FetchDeps, limits: FetchLimits): ServedTool[] {
  // Node.js runs only two lookups of a process at once, and one must stay free for the rest of it.
  const lookups = createSemaphore(1);
  const largePages = createSemaphore(2);
  // Each fetch holds its page in memory.
  const fetches = createSemaphore(maxAtOnce);
  function run(style: Style | 'as-is', isHtmlOnly = false) {
    return async (args: Input, { signal, agent }: ToolContext): Promise<ToolOutput> => {
      const url = readUrl(args.url);
      const wanted = { url, start: args.start, maxChars: args.max_chars, style, isHtmlOnly };
      const timeout = { timeoutMs: limits.timeoutMs, signal };
      return inTime(deps.clock, timeout, url.href, async (stop) => {
        const endTurn = await fetches.of(agent).take(stop);
        const turns = { lookups: lookups.of(agent), largePages: largePages.of(agent) };
        return answer({ ...deps, ...turns }, limits, wanted, stop).finally(endTurn);
      });
    };
  }
  return [
    defineTool({
      name: 'fetch_url',
      title: 'Fetch a URL',
      description:
        'Gets a URL and returns its content unchanged: JSON, XML, HTML source, plain text. For anything that is not text, only its type and size.',
      annotations,
      input,
      run: run('as-is'),
    }),
    defineTool({
      name: 'fetch_html',
      title: 'Fetch HTML source',
      description: 'Gets a web page and returns its HTML source. Fails for anything that is not HTML.',
      annotations,
      input,
      run: run('as-is', true),
    }),
    defineTool({
      name: 'fetch_markdown',
      title: 'Fetch a page as Markdown',
      description:
        'Gets a web page and returns it as Markdown, with headings, lists, tables, code and absolute links. The best choice for reading a page.',
      annotations,
      input,
      run: run('markdown'),
    }),
    defineTool({
      name: 'fetch_text',
      title: 'Fetch a page as plain text',
      description: 'Gets a web page and returns its text without any markup or links. Shorter than Markdown.',
      annotations,
      input,
      run: run('text'),
    }),
  ];
}

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

const input = z.object({
  url: z.string().min(1).max(8192).describe('Absolute http or https URL.'),
  max_chars: z.int().min(1).max(500_000).default(20_000).describe('Maximum number of characters to return.'),
  start: z.int().min(0).default(0).describe('Character to start at, to continue where an earlier result ended.'),
});

type Input = z.output<typeof input>;

interface Wanted extends Span {
  readonly url: URL;
  readonly style: Style | 'as-is';
  readonly isHtmlOnly: boolean;
}

const faultChars = 1000;
const maxAtOnce = 32;

function readUrl(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new ToolFault('The URL is not valid. It must be absolute, such as https://example.com/.');
}

async function answer(
  deps: GetDeps & ReadDeps,
  limits: FetchLimits,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const page = await getPage(deps, limits, wanted.url, signal);
  const read = (as: Style | 'as-is') => decodeText(deps, page, as, limits.maxBytes, signal);
  if (page.status >= 400) {
    const start = cleanText((await read('text')).text.slice(0, faultChars)).trim();
    throw new ToolFault(`${describe(page)}\nThe server answered with an error.${start === '' ? '' : `\n\n${start}`}`);
  }
  if (page.shape === 'binary') return { text: `${describe(page)}\nIt is not text, so it is not shown.` };
  if (wanted.isHtmlOnly && page.shape !== 'html') {
    throw new ToolFault(`${describe(page)}\nIt is not HTML; use fetch_url.`);
  }
  const { text, title, isCut } = await read(wanted.style);
  const excerpt = takeExcerpt(text, wanted);
  const notes = [excerpt.note, isCut ? 'The page is longer than the converted part.' : undefined].filter(Boolean);
  const head = title === '' ? describe(page) : `${describe(page)}\nTitle: ${cleanText(title)}`;
  return { text: [head, excerpt.text.trimEnd(), ...(notes.length > 0 ? [`(${notes.join(' ')})`] : [])].join('\n\n') };
}

/** Describes the result: the URL after all redirects, its status, type and size. */
function describe({ url, redirects, status, media, size }: FetchedPage): string {
  const way = redirects === 0 ? '' : ` (after ${redirects} redirect${redirects === 1 ? '' : 's'})`;
  const type = media.type === '' ? 'no content type' : cleanText(media.type);
  return `${url.href}${way}\nStatus ${status}, ${type}, ${size === undefined ? 'size unknown' : `${size} bytes`}`;
}
