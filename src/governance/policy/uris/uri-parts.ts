import { domainToUnicode } from 'node:url';

/** The parts of a URI or URI pattern. All spellings of one resource have the same parts. */
export interface UriParts {
  /** In lower case, with the colon. Empty if there is none. */
  readonly scheme: string;
  /** In lower case, without default port or trailing dots. Empty if there is none. */
  readonly host: string;
  /** With the `@`. Programs that treat everything as a path keep it, others drop it. */
  readonly userinfo: string;
  readonly path: string;
  /** Query and fragment, with their delimiters. */
  readonly tail: string;
}

export function uriParts(text: string): UriParts {
  const [, scheme = '', slashes = '', rest = ''] = /^([a-z*][a-z\d+.*-]*:)?(\/*)(.*)$/is.exec(text) ?? [];
  const lowerScheme = scheme.toLowerCase();
  const hasHost = slashes.length === 2 || lowerScheme in defaultPorts;
  const [, authority = '', path = '', tail = ''] =
    /^([^/?#]*)([^?#]*)(.*)$/s.exec(hasHost ? rest : `${slashes}${rest}`) ?? [];
  if (!hasHost) {
    const whole = `${authority}${path}`;
    const local = lowerScheme === 'file:' ? whole.replace(/^(\/*[a-z])\|(?=\/|$)/i, '$1:') : whole;
    return { scheme: lowerScheme, host: '', userinfo: '', path: local, tail };
  }
  const at = authority.lastIndexOf('@');
  const host = hostName(authority.slice(at + 1), lowerScheme);
  return { scheme: lowerScheme, host, userinfo: authority.slice(0, at + 1), path, tail };
}

/** Parsers differ, so this cuts at the first colon. The colons of an IPv6 address are inside brackets. */
export function withoutPort(host: string): string {
  const at = host.indexOf(':', host.startsWith('[') ? host.indexOf(']') + 1 : 0);
  return at < 0 ? host : host.slice(0, at);
}

/** Java servers drop `;v=1` from each segment, and Windows drops trailing dots and spaces. */
export function withoutParameters(path: string): string {
  if (!/[;. ]/.test(path)) return path;
  return path.split('/').map(plainSegment).join('/');
}

function plainSegment(segment: string): string {
  const at = segment.indexOf(';');
  const name = at < 0 ? segment : segment.slice(0, at);
  const end = endWithout(name, '. ');
  return end === 0 ? name : name.slice(0, end);
}

/** The end of the text without these trailing characters. */
function endWithout(text: string, characters: string): number {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return end;
}

const defaultPorts: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'ftp:': '21',
  'ws:': '80',
  'wss:': '443',
};

function hostName(authority: string, scheme: string): string {
  const [, name = '', port] = /^(.*?)(?::(\d*))?$/s.exec(authority) ?? [];
  const readable = readableName(name.toLowerCase().replaceAll(/[\u3002\uff0e\uff61]/g, '.'), scheme);
  const host = readable.slice(0, endWithout(readable, '.'));
  if (scheme === 'file:' && localNames.has(host)) return '';
  const number = port?.replace(/^0{1,16}(?=\d)/, '');
  return number === undefined || number === '' || number === defaultPorts[scheme] ? host : `${host}:${number}`;
}

const localNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Decodes punycode label by label, because a label may contain a star. The host of a web URL may also be a number in
 * one of many notations.
 */
function readableName(name: string, scheme: string): string {
  if (scheme in defaultPorts && /^[\da-fx.]+$/.test(name) && URL.canParse(`http://${name}`)) {
    return new URL(`http://${name}`).hostname;
  }
  if (!name.includes('xn--')) return name;
  return name
    .split('.')
    .map((label) => domainToUnicode(label) || label)
    .join('.');
}
