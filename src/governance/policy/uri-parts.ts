import { domainToUnicode } from 'node:url';

/** A URI, or a pattern of URIs, taken apart so that all spellings of one resource have the same parts. */
export interface UriParts {
  /** In small letters with its colon; empty where there is none. */
  readonly scheme: string;
  /** In small letters, without a default port and dots at its end; empty where there is none. */
  readonly host: string;
  /** With its `@`. Programs that take all of it for a path keep it, others drop it. */
  readonly userinfo: string;
  readonly path: string;
  /** Query and fragment, with what they begin with. */
  readonly tail: string;
}

export function uriParts(text: string): UriParts {
  const plain = text.replaceAll('\\', '/');
  const [, scheme = '', slashes = '', rest = ''] = /^([a-z*][a-z\d+.*-]*:)?(\/*)(.*)$/is.exec(plain) ?? [];
  const lowerScheme = scheme.toLowerCase();
  const hasHost = (slashes.length === 2 || lowerScheme in defaultPorts) && !isDrive(lowerScheme, rest);
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

/** In `file://C:/x` there is no host. */
function isDrive(scheme: string, rest: string): boolean {
  return scheme === 'file:' && /^[a-z][:|](?:[/?#]|$)/i.test(rest);
}

/** As parsers differ, at the first colon; those of an IPv6 address stand in brackets. */
export function withoutPort(host: string): string {
  const at = host.indexOf(':', host.startsWith('[') ? host.indexOf(']') + 1 : 0);
  return at < 0 ? host : host.slice(0, at);
}

/** Java servers drop `;v=1` of each segment, and Windows dots and spaces at its end. */
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

/** Where a text ends without these characters behind it. */
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

/** In its own alphabet, label by label: one may hold a star. A web address may also be a number in many notations. */
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
