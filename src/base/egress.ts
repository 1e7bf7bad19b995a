import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createIsPublicAddress, type IsPublicAddress } from './egress-addresses.ts';

/** Keeps requests to URLs that the operator did not choose out of this machine's internal networks. */
export interface EgressGuard {
  /**
   * Returns the lookup function to pass to net, tls, http or undici, or the reason why the URL must not be dialled.
   * Call it again for every redirect.
   */
  admit(url: URL): LookupFunction | EgressRefusal;
}

export interface EgressOptions {
  /** Hosts that the operator allows, whatever their addresses. */
  readonly allowed: readonly AllowedHost[];
}

/** The form of node:dns `lookup` used here. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface AllowedHost {
  /** As in a parsed URL: an address in its normal form, or a name in lower case without a trailing dot. */
  readonly host: string;
  /** Undefined: any port. */
  readonly port: number | undefined;
}

/** Why a URL is not dialled. The message completes a sentence about the URL. */
export class EgressRefusal extends Error {
  override readonly name = 'EgressRefusal';
  /** The operator can allow an address, but not a URL that is refused for its form. */
  readonly about: 'url' | 'address';

  constructor(about: 'url' | 'address', message: string) {
    super(message);
    this.about = about;
  }
}

export function createEgressGuard(
  { lookup }: { readonly lookup: ResolveAll },
  { allowed }: EgressOptions,
): EgressGuard {
  const isPublic = createIsPublicAddress();
  const isAny: IsPublicAddress = () => true;
  return {
    admit(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        return new EgressRefusal(
          'url',
          `its scheme is ${url.protocol.slice(0, -1)}, and only http and https are dialled`,
        );
      }
      if (url.username !== '' || url.password !== '')
        return new EgressRefusal('url', 'it contains a user name or a password');
      const host = hostOf(url);
      const port = portOf(url);
      const isLetThrough = allowed.some((each) => each.host === host && (each.port ?? port) === port);
      if (isLetThrough) return createCheckedLookup(lookup, isAny);
      // An address never reaches the lookup function, so check it here.
      if (isIP(host) !== 0 && !isPublic(host)) return new EgressRefusal('address', `${host} is not a public address`);
      return createCheckedLookup(lookup, isPublic);
    },
  };
}

/** Parses `host` or `host:port`. Undefined for anything else. */
export function readAllowedHost(text: string): AllowedHost | undefined {
  // URL drops the default port of its scheme. A port is absent only if both schemes report none.
  const [plain, secure] = [`http://${text}`, `https://${text}`].map((url) =>
    URL.canParse(url) ? new URL(url) : undefined,
  );
  if (plain === undefined || secure === undefined || /[/\\?#@\s]/.test(text)) return undefined;
  const port = plain.port || secure.port;
  return { host: hostOf(plain), port: port === '' ? undefined : Number(port) };
}

/** Passes on exactly the addresses it checked. A second lookup could return different ones. */
function createCheckedLookup(lookup: ResolveAll, isAllowed: IsPublicAddress): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) done(error, '');
      else if (first === undefined) done(Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' }), '');
      // An internal address among public ones is an attack, or a network where the two cannot be told apart.
      else if (!addresses.every(({ address }) => isAllowed(address))) {
        done(new EgressRefusal('address', `${name} has an address that is not public`), '');
      } else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
