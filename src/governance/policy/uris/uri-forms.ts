import { decodings, withoutInvisible } from './percent-decoding.ts';
import { type UriParts, uriParts, withoutParameters, withoutPort } from './uri-parts.ts';

/**
 * The normal forms of a URI. A server may follow the URI rules, decode first, decode twice, or cut off `memo://` and
 * treat the rest as a path. Each reading produces a form. All forms share some normalisation: single slashes,
 * lower-case schemes and hosts, and so on.
 */
export interface UriForms {
  /** An include list must match each of them. */
  readonly exact: readonly string[];
  /**
   * In lower case, and also without port, segment parameters, query, fragment or trailing slash. A rule that denies any
   * of them applies.
   */
  readonly loose: readonly string[];
  /** False if the URI has more than `maxForms` readings. The lists then hold only the first ones. */
  readonly isComplete: boolean;
  /** The forms as URIs again, to match against templates. */
  spellings(): readonly string[];
}

/** The normal forms of a URI or pattern in an operator's rule or list. */
export type EntryForms = Pick<UriForms, 'exact' | 'loose'>;

/** A URI with more readings was written to confuse. */
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
    // The result of `..` depends on the text that a star stands for.
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
  /** The form counts only for denials. */
  readonly isLoose: boolean;
}

/** A generator, so that nothing more is computed once there are too many. */
function* variantsOf(uri: string): Generator<Variant> {
  const texts = new Set([...readings(uri), ...readings(uri.replace(fileHost, 'file://'))]);
  for (const text of texts) yield* variantsOfText(text, false);
  const cuts = new Set([...[...texts].flatMap(cutTexts), ...cutTexts(uri).flatMap(readings)]);
  for (const text of cuts) yield* variantsOfText(text, true);
}

/** Python takes the host off before it decodes, so an encoded `#` in it does not end the path. */
const fileHost = /^file:\/\/[^/?#]*/i;

/** For a URI without `//`: servers that cut off everything up to the first `://`, or as many characters as usual. */
function cutTexts(text: string): readonly string[] {
  const [, scheme, rest] = /^([a-z][a-z\d+.-]*:)(?!\/\/)(.*)$/is.exec(text) ?? [];
  if (scheme === undefined || rest === undefined) return [];
  const at = rest.indexOf('://');
  return [rest.slice(2), ...(at < 0 ? [] : [rest.slice(at + 3)])].map((path) => `${scheme}//${path}`);
}

function* variantsOfText(text: string, onlyLoose: boolean): Generator<Variant> {
  // In a rule, a star is a wildcard. In a URI, it is an ordinary character.
  for (const { parts, isLoose } of leftOut(uriParts(text.replaceAll('*', '%2A')))) {
    for (const each of resolved(parts)) yield { parts: each, isLoose: onlyLoose || isLoose };
  }
}

/** The parts as they are, and without the parts that some servers ignore. */
function leftOut(parts: UriParts): readonly Variant[] {
  const found: Variant[] = [{ parts, isLoose: false }];
  const bare = { ...parts, userinfo: '' };
  if (parts.userinfo !== '') found.push({ parts: bare, isLoose: false });
  // Programs open the path of a `file:` URI, whatever its host.
  const isFile = parts.scheme === 'file:';
  const host = isFile ? '' : withoutPort(parts.host);
  if (host !== parts.host) found.push({ parts: { ...bare, host }, isLoose: !isFile });
  const plain = { host: withoutParameters(parts.host), path: withoutParameters(parts.path) };
  if (plain.host === parts.host && plain.path === parts.path) return found;
  // This turns `..;x` into `..`, which leads out of the path in an include list.
  const isLoose = !steps.test(plain.path);
  return [
    ...found,
    ...found.map((each) => ({
      parts: { ...each.parts, path: plain.path, host: withoutParameters(each.parts.host) },
      isLoose: isLoose || each.isLoose,
    })),
  ];
}

/** A backslash is a slash to URL parsers and Windows, and part of a name to others. `file://C:/x` has a drive or a host. */
function readings(text: string): readonly string[] {
  return [...decoded(text)].flatMap((each) => {
    const slashed = each.replaceAll('\\', '/');
    return [each, slashed, slashed.replace(driveAsHost, 'file:///')];
  });
}

const driveAsHost = /^file:\/\/(?=[a-z][:|](?:[/?#]|$))/i;

/** Decoded in every way that a program may, without the characters that parsers drop, in both Unicode normal forms. */
function decoded(text: string): ReadonlySet<string> {
  if (plainText.test(text)) return new Set([text]);
  const found = new Set<string>();
  for (const each of decodings(text)) {
    const visible = withoutInvisible(each).trim();
    for (const form of ['NFC', 'NFKC'] as const) {
      const read = visible.normalize(form).replaceAll(/%[\da-f]{2}/gi, (code) => code.toUpperCase());
      found.add(read);
    }
  }
  return found;
}

/** Nothing to decode, drop or normalise. */
const plainText = /^[!-$&-~]*$/;

/** As written, and with `.` and `..` resolved below the host, with the host as a folder, or in the whole text. */
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

/** For `a//..`, file systems return the parent of `a`, and the URI rules return `a/`. */
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
  // A text without a scheme may be a name as well as a path.
  const start = scheme === '' ? '' : `${scheme}${slashes}`;
  return `${start}${whole.startsWith('/') ? whole.slice(1) : whole}${tail}`;
}

/** With and without query and fragment. Without a host, two or three slashes may follow the scheme. */
function spellingsOf(parts: UriParts): readonly string[] {
  const cuts = parts.tail === '' ? [parts] : [parts, { ...parts, tail: '' }];
  return cuts.flatMap((each) => (parts.host === '' ? ['//', '///'] : ['//']).map((slashes) => compose(each, slashes)));
}

function withoutLastSlash(form: string): readonly string[] {
  return form.endsWith('/') ? [form, form.slice(0, -1)] : [form];
}
