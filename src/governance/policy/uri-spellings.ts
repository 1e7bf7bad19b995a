import { posix } from 'node:path';

/** Other ways in which a server may read a URI that somebody made up. */
export interface UriSpellings {
  /** The same resource to programs that follow the rules for URIs, or decode first, or take all of it for a path. */
  readonly same: readonly string[];
  /** What a program may make of it that looks for a file: without query, in plain characters. */
  readonly alike: readonly string[];
}

/**
 * A server takes `memo://a/../b`, `memo://%62` and `memo://b#x` for `memo://b`, and a rule on that must hold for all of
 * them. (Most libraries put every URI through the URL parser before they look it up.)
 */
export function uriSpellings(uri: string): UriSpellings {
  const same = new Set<string>();
  const alike = new Set<string>();
  for (const text of [uri, decoded(uri)]) {
    if (steps.test(text)) same.add(withoutSteps(text));
    if (!URL.canParse(text)) continue;
    const url = new URL(text);
    url.hash = '';
    same.add(url.href);
    alike.add(decoded(url.href));
    url.search = '';
    alike.add(url.href);
    alike.add(decoded(url.href));
  }
  return { same: [...same], alike: [...alike] };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

const steps = /\/\.\.?(\/|$)/;

/** To the URL parser `a` in `memo://a/../b` is a host and stays; to a program that cuts off `memo://` it is a folder. */
function withoutSteps(text: string): string {
  const [, start = '', path = ''] = /^([^:/?#]*:\/*)?([^?#]*)/.exec(text) ?? [];
  return start.toLowerCase() + posix.normalize(path);
}
