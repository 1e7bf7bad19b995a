import { ToolFault } from '../../serving/index.ts';

/** The requested part of a text. */
export interface Span {
  readonly start: number;
  readonly maxChars: number;
}

export interface Excerpt {
  readonly text: string;
  /** How much is left and how to get it; undefined if the whole text is there. */
  readonly note: string | undefined;
}

export function takeExcerpt(whole: string, { start, maxChars }: Span): Excerpt {
  if (start > 0 && start >= whole.length) {
    throw new ToolFault(`start ${start} is past the end: the text has ${whole.length} characters.`);
  }
  const from = start - Number(isInPair(whole, start));
  const end = from + maxChars;
  // Never cuts a surrogate pair. If only half of one fits, takes the whole pair, so that reading on makes progress.
  const to = isInPair(whole, end) ? end + (maxChars === 1 ? 1 : -1) : Math.min(end, whole.length);
  const text = cleanText(whole.slice(from, to));
  if (from === 0 && to === whole.length) return { text, note: undefined };
  const next = to < whole.length ? ` ${whole.length - to} are left: call again with start ${to}.` : ' This is the end.';
  return { text, note: `Characters ${from} to ${to} of ${whole.length}.${next}` };
}

/** Removes escape sequences and control characters, because a page must not control a terminal. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(escapes, '').replace(controls, '');
}

const [bell, esc, terminator] = [0x07, 0x1b, 0x9c].map((code) => String.fromCharCode(code));

/** Colours and the like; titles and links up to their terminator; all other escape sequences. */
const escapes = new RegExp(
  [
    `${esc}\\[[0-?]{0,64}[ -/]{0,8}[@-~]?`,
    `${esc}[\\]PX^_][^${bell}${esc}${terminator}]{0,256}(?:${bell}|${esc}\\\\|${terminator})`,
    `${esc}[ -/]{0,8}[0-~]?`,
  ].join('|'),
  'g',
);

/** All control characters except tabs and newlines. */
const controls = /[^\P{Cc}\t\n]/gu;

function isInPair(text: string, at: number): boolean {
  const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
  const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;
  return at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}
