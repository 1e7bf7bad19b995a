import { decodings } from './percent-decoding.ts';
import { type UriParts, uriParts } from './uri-parts.ts';

/**
 * The normal forms of a URI. A server may follow the rules for URIs, or decode first, or decode twice, or cut off
 * `memo://` and take the rest for a path; each of these readings gives a form. What several spellings have in common is
 * the same in all forms: slashes are single, schemes and hosts are in small letters, and so on.
 */
export interface UriForms {
  /** An include list must hold for each of them. */
  readonly exact: readonly string[];
  /** In small letters, and also without query, fragment or a slash at the end: a rule that denies any of them counts. */
  readonly loose: readonly string[];
  /** The same as URIs again, for templates that they may fit. */
  readonly spellings: readonly string[];
}

/** The normal forms of a URI, or of a pattern with stars, that an operator wrote into a rule or a list. */
export type EntryForms = Pick<UriForms, 'exact' | 'loose'>;

export function uriForms(uri: string): UriForms {
  const [exact, loose, spellings] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const text of readings(uri)) {
    // To a rule a star stands for anything; here it is just a character.
    const parts = uriParts(text.replaceAll('*', '%2A'));
    const variants = parts.userinfo === '' ? [parts] : [parts, { ...parts, userinfo: '' }];
    for (const variant of variants.flatMap(resolved)) {
      exact.add(compose(variant));
      const cut = { ...variant, tail: '' };
      for (const each of [variant, cut]) {
        for (const form of withoutLastSlash(compose(each))) loose.add(form.toLowerCase());
        for (const slashes of ['//', '///']) spellings.add(compose(each, slashes));
      }
    }
  }
  if (uri.includes('\0') || /%(?:25)*00/.test(uri)) addBeforeNul(uri, loose);
  return { exact: [...exact], loose: [...loose], spellings: [uri, ...spellings] };
}

export function entryForms(entry: string): EntryForms {
  const isPattern = entry.includes('*');
  const [exact, loose] = [new Set<string>(), new Set<string>()];
  for (const text of readings(entry)) {
    const parts = uriParts(text);
    // What a step up leaves depends on what a star stands for.
    for (const variant of isPattern ? [parts] : resolved(parts)) {
      exact.add(compose(variant)).add(compose({ ...variant, userinfo: '' }));
      const form = compose(variant).toLowerCase();
      for (const each of isPattern ? [form] : withoutLastSlash(form)) loose.add(each);
    }
  }
  return { exact: [...exact], loose: [...loose] };
}

/** Decoded as often as somebody may, without what parsers drop, and in both normal forms of Unicode. */
function readings(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const decoded of decodings(text)) {
    const visible = decoded.replaceAll(dropped, '').trim();
    for (const form of ['NFC', 'NFKC'] as const) {
      const read = visible.normalize(form).replaceAll(/%[\da-f]{2}/gi, (code) => code.toUpperCase());
      found.add(read);
    }
  }
  return found;
}

/** Control characters and those that nobody sees. */
const dropped = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Programs in C see nothing behind it. */
function addBeforeNul(uri: string, loose: Set<string>): void {
  for (const text of decodings(uri)) {
    const nul = text.indexOf('\0');
    if (nul >= 0) for (const form of uriForms(text.slice(0, nul)).loose) loose.add(form);
  }
}

/** As it is written, and with `.` and `..` resolved: below the host, with the host as a folder, or in all of the text. */
function resolved(parts: UriParts): readonly UriParts[] {
  const { host, path, tail } = parts;
  if (!steps.test(`${host}/${path}${tail}`)) return [parts];
  const folder = { ...parts, host: '', userinfo: '' };
  return [
    parts,
    ...withoutSteps(path).map((way) => ({ ...parts, path: way })),
    ...withoutSteps(`${host}/${path}`).map((way) => ({ ...folder, path: way })),
    ...withoutSteps(`${host}/${path}${tail}`).map((way) => ({ ...folder, path: way, tail: '' })),
  ];
}

const steps = /(?:^|\/)\.{1,2}(?:[/?#]|$)/;

/** Of `a//..` file systems make the folder above `a`, and the rules for URIs `a/`. */
function withoutSteps(path: string): readonly string[] {
  return path.includes('//') ? [walk(path, true), walk(path, false)] : [walk(path, true)];
}

function walk(path: string, emptyCounts: boolean): string {
  const kept: string[] = [];
  for (const part of path.replace(/^\//, '').split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '.' && (emptyCounts || part !== '')) kept.push(part);
  }
  return `/${kept.join('/')}${/\/\.{1,2}$/.test(path) ? '/' : ''}`;
}

function compose({ scheme, host, userinfo, path, tail }: UriParts, slashes = '/'): string {
  const whole = `${userinfo}${host}${path === '' ? '' : `/${path}`}`.replaceAll(/\/+/g, '/');
  // What has no scheme may be a name as well as a path.
  const start = scheme === '' ? '' : `${scheme}${slashes}`;
  return `${start}${whole.startsWith('/') ? whole.slice(1) : whole}${tail}`;
}

function withoutLastSlash(form: string): readonly string[] {
  return form.endsWith('/') ? [form, form.slice(0, -1)] : [form];
}
