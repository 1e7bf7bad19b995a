import type { Quote, TextFinding } from './definition-finding.ts';
import type { DefinitionText } from './definition-texts.ts';

/** Characters that a person does not see and a model reads. */
export function findHiddenCharacters({ at, text, use }: DefinitionText): readonly TextFinding[] {
  if (!unusual.test(text)) return [];
  const isRightToLeft = rightToLeft.test(text);
  const rest = use === 'name' ? text : withoutOrthography(text, isRightToLeft);
  return classes.flatMap(({ kind, rule, noun, pattern, isGrave }): TextFinding[] => {
    const found = rest.match(pattern) ?? [];
    if (found.length === 0) return [];
    const grave = use === 'name' || found.length >= many || isGrave(isRightToLeft);
    const spelled = asciiOf(found);
    const what = `has ${found.length} ${noun}${found.length === 1 ? '' : 's'}`;
    const says = (quote: Quote): string => (spelled === '' ? what : `${what}, which spell ${quote(spelled)}`);
    return [{ kind, severity: grave ? 'warning' : 'note', at, rule, says, text }];
  });
}

/** The text as a model would read it if nothing in it were hidden. */
export function withoutHidden(text: string): string {
  return unusual.test(text) ? classes.reduce((left, { pattern }) => left.replace(pattern, ''), text) : text;
}

/** A part of a text from outside on one line, short, with hidden characters spelled out. */
export function spelledOut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const short = line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line;
  const spell = (character: string): string =>
    `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  return classes.reduce((left, { pattern }) => left.replace(pattern, spell), short);
}

const longestQuote = 100;

/** So many are more than a slip of an editor; they can carry a message. */
const many = 8;

interface HiddenClass {
  readonly kind: TextFinding['kind'];
  readonly rule: string;
  readonly noun: string;
  readonly pattern: RegExp;
  /** Whether a single one is worth a warning. */
  readonly isGrave: (isRightToLeft: boolean) => boolean;
}

const classes: readonly HiddenClass[] = [
  {
    kind: 'hidden-characters',
    rule: 'tag',
    noun: 'tag character',
    pattern: /[\u{e0000}-\u{e007f}]/gu,
    isGrave: () => true,
  },
  {
    kind: 'text-direction',
    rule: 'direction',
    noun: 'character that changes the direction of the text',
    pattern: /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    isGrave: (isRightToLeft) => !isRightToLeft,
  },
  {
    kind: 'hidden-characters',
    rule: 'zero-width',
    noun: 'character without width',
    pattern:
      /\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/g,
    isGrave: () => false,
  },
  {
    kind: 'hidden-characters',
    rule: 'variation',
    noun: 'variation selector',
    pattern: /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu,
    isGrave: () => false,
  },
  {
    kind: 'hidden-characters',
    rule: 'control',
    noun: 'control character',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
    pattern: /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f]/g,
    isGrave: () => true,
  },
];

const unusual = /[^\t\n\r\f\x20-\x7e]/;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Leaves out what correct writing needs: joiners in emoji and in some scripts, flags, marks in right-to-left text. */
function withoutOrthography(text: string, isRightToLeft: boolean): string {
  const rest = text
    .replace(flag, '')
    .replace(emojiJoiner, '')
    .replace(scriptJoiner, '')
    .replace(emojiStyle, '')
    .replace(hanVariant, '');
  return isRightToLeft ? rest.replace(/[\u061c\u200e\u200f]/g, '') : rest;
}

/** England, Scotland and Wales. Other texts in tag characters have no picture. */
const flag =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;
const emojiJoiner = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu;
const scriptJoiner =
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}])[\u200c\u200d]/gu;
const emojiStyle = /(?<=\p{Emoji})[\ufe0e\ufe0f]/gu;
const hanVariant = /(?<=\p{Script=Han})[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/gu;

/** The text that tag characters stand for. Others spell nothing. */
function asciiOf(characters: readonly string[]): string {
  let spelled = '';
  for (const character of characters) {
    const code = (character.codePointAt(0) ?? 0) - 0xe0000;
    if (code >= 0x20 && code < 0x7f) spelled += String.fromCharCode(code);
  }
  return spelled;
}
