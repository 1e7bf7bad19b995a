import { decodings } from './percent-decoding.ts';
import { type UriParts, uriParts, withoutParameters, withoutPort } from './uri-parts.ts';

/**
 * The normal forms of a URI. A server may follow the rules for URIs, or decode first, or decode twice, or cut off
 * `memo://` and take the rest for a path; each of these readings gives a form. What several spellings have in common is
 * the same in all forms: slashes are single, schemes and hosts are in small letters, and so on.
 */
export interface UriForms {
  /** An include list must hold for each of them. */
  readonly exact: readonly string[];
  /**
   * In small letters, and also without port, parameters of segments, query, fragment or a slash at the end: a rule that
   * denies any of them counts.
   */
  readonly loose: readonly string[];
  /** False where a URI can be read in more than `maxForms` ways: these are only the first. */
  readonly isComplete: boolean;
  /** The same as URIs again, for templates that they may fit. */
  spellings(): readonly string[];
}

/** The normal forms of a URI, or of a pattern with stars, that an operator wrote into a rule or a list. */
export type EntryForms = Pick<UriForms, 'exact' | 'loose'>;

/** A URI that can be read in more ways was written to confuse. */
const maxForms = 16;

export function uriForms(uri: string): UriForms {
  const [exact, loose] = [new Set<string>(), new Set<string>()];
  const distinct = new Map<string, UriParts>();
  let isComplete = true;
  for (const { parts, isLoose } of variantsOf(uri)) {
    const form = compose(parts);
    if (!isLoose) exact.add(form);
    if (distinct.has(form)) continue;
    distinct.set(form, parts);
    for (const each of parts.tail === '' ? [form] : [form, form.slice(0, -parts.tail.length)]) {
      for (const short of withoutLastSlash(each)) loose.add(short.toLowerCase());
    }
    isComplete = distinct.size <= maxForms;
    if (!isComplete) break;
  }
  return {
    exact: [...exact],
    loose: [...loose],
    isComplete,
    spellings: () => [...new Set([uri, ...[...distinct.values()].flatMap(spellingsOf)])],
  };
}

export function entryForms(entry: string): EntryForms {
  const isPattern = entry.includes('*');
  const [exact, loose] = [new Set<string>(), new Set<string>()];
  for (const text of readings(entry)) {
    const parts = uriParts(text);
    // What a step up leaves depends on what a star stands for.
    for (const variant of isPattern ? [parts] : resolved(parts)) {
      exact.add(compose(variant)).add(compose({ ...variant, userinfo: '' }));
      if (variant.scheme === 'file:') exact.add(compose({ ...variant, userinfo: '', host: '' }));
      const form = compose(variant).toLowerCase();
      for (const each of isPattern ? [form] : withoutLastSlash(form)) loose.add(each);
    }
  }
  return { exact: [...exact], loose: [...loose] };
}

interface Variant {
  readonly parts: UriParts;
  /** Such a form counts for denials alone. */
  readonly isLoose: boolean;
}

/** One after another, so that nothing more is made once there are too many. */
function* variantsOf(uri: string): Generator<Variant> {
  for (const text of readings(uri)) {
    // To a rule a star stands for anything; here it is just a character.
    for (const { parts, isLoose } of leftOut(uriParts(text.replaceAll('*', '%2A')))) {
      for (const each of resolved(parts)) yield { parts: each, isLoose };
    }
  }
}

/** As it is, and without what some servers pay no attention to. */
function leftOut(parts: UriParts): readonly Variant[] {
  const found: Variant[] = [{ parts, isLoose: false }];
  const bare = { ...parts, userinfo: '' };
  if (parts.userinfo !== '') found.push({ parts: bare, isLoose: false });
  // Programs open the path of a `file:` URI, whatever host it names.
  const isFile = parts.scheme === 'file:';
  const host = isFile ? '' : withoutPort(parts.host);
  if (host !== parts.host) found.push({ parts: { ...bare, host }, isLoose: !isFile });
  const plain = { host: withoutParameters(parts.host), path: withoutParameters(parts.path) };
  if (plain.host === parts.host && plain.path === parts.path) return found;
  // Of `..;x` this makes a step up, which leads out of what an include list names.
  const isLoose = !steps.test(plain.path);
  return [
    ...found,
    ...found.map((each) => ({
      parts: { ...each.parts, path: plain.path, host: withoutParameters(each.parts.host) },
      isLoose: isLoose || each.isLoose,
    })),
  ];
}

/** Decoded as often as somebody may, without what parsers drop, and in both normal forms of Unicode. */
function readings(text: string): ReadonlySet<string> {
  if (plainText.test(text)) return new Set([text]);
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

/** Nothing to decode, to drop or to normalize. */
const plainText = /^[!-$&-~]*$/;

/** Control characters and those that nobody sees. */
const dropped = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

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

/** With and without query and fragment; what has no host may stand behind two slashes or three. */
function spellingsOf(parts: UriParts): readonly string[] {
  const cuts = parts.tail === '' ? [parts] : [parts, { ...parts, tail: '' }];
  return cuts.flatMap((each) => (parts.host === '' ? ['//', '///'] : ['//']).map((slashes) => compose(each, slashes)));
}

function withoutLastSlash(form: string): readonly string[] {
  return form.endsWith('/') ? [form, form.slice(0, -1)] : [form];
}
