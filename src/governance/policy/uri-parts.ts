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
  const hasHost = slashes.length === 2 || (slashes !== '' && lowerScheme in defaultPorts);
  const [, authority = '', path = '', tail = ''] =
    /^([^/?#]*)([^?#]*)(.*)$/s.exec(hasHost ? rest : `${slashes}${rest}`) ?? [];
  if (!hasHost) return { scheme: lowerScheme, host: '', userinfo: '', path: `${authority}${path}`, tail };
  const at = authority.lastIndexOf('@');
  const host = hostName(authority.slice(at + 1), lowerScheme);
  return { scheme: lowerScheme, host, userinfo: authority.slice(0, at + 1), path, tail };
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
  const host = readableName(name.toLowerCase().replaceAll(/[\u3002\uff0e\uff61]/g, '.'), scheme).replace(
    /\.{1,255}$/,
    '',
  );
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
