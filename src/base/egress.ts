import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createIsPublicAddress, type IsPublicAddress } from './egress-addresses.ts';

/** Keeps requests to URLs that did not come from the operator out of the networks that this machine stands in. */
export interface EgressGuard {
  /**
   * What to resolve the URL's host with, in the options of net, tls, http or undici; or why it must not be dialled at all.
   * Every hop of a redirect is admitted anew.
   */
  admit(url: URL): LookupFunction | EgressRefusal;
}

export interface EgressOptions {
  /** Hosts that the operator lets through, whatever their addresses are. */
  readonly allowed: readonly AllowedHost[];
}

/** `lookup` of node:dns, as it is called here. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface AllowedHost {
  /** As a URL has it: an address in its one normal form, a name in lower case without a dot at its end. */
  readonly host: string;
  /** Undefined for every port. */
  readonly port: number | undefined;
}

/** Why a URL is not dialled, as the end of a sentence about it. */
export class EgressRefusal extends Error {
  override readonly name = 'EgressRefusal';
  /** Only an address is something that the operator may let through. */
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
        return new EgressRefusal('url', 'it holds a user name or a password');
      const host = hostOf(url);
      const port = portOf(url);
      const isLetThrough = allowed.some((each) => each.host === host && (each.port ?? port) === port);
      if (isLetThrough) return createCheckedLookup(lookup, isAny);
      // Nobody resolves an address, so it is judged here.
      if (isIP(host) !== 0 && !isPublic(host)) return new EgressRefusal('address', `${host} is not a public address`);
      return createCheckedLookup(lookup, isPublic);
    },
  };
}

/** Reads `host` or `host:port`; undefined for anything more or less than that. */
export function readAllowedHost(text: string): AllowedHost | undefined {
  // A URL does not tell the default port of its scheme from none at all; no port is the default of both.
  const [plain, secure] = [`http://${text}`, `https://${text}`].map((url) =>
    URL.canParse(url) ? new URL(url) : undefined,
  );
  if (plain === undefined || secure === undefined || /[/\\?#@\s]/.test(text)) return undefined;
  const port = plain.port || secure.port;
  return { host: hostOf(plain), port: port === '' ? undefined : Number(port) };
}

/** Hands on exactly what it checked, so there is no second answer that could differ. */
function createCheckedLookup(lookup: ResolveAll, isAllowed: IsPublicAddress): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) done(error, '');
      else if (first === undefined) done(Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' }), '');
      // An inner address among public ones is an attack, or a network in which nobody can tell them apart.
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
