import { HubError } from '../../base/index.ts';
import type { KnownHeaders } from './requests/known-headers.ts';

/**
 * A web page can make a browser send requests to loopback addresses, under a host name of its
 * choosing. Only names that the operator knows are served, and only origins the operator named.
 */
export interface Guard {
  /** Throws HubError for a Host or Origin that the hub does not serve. */
  check(headers: Pick<KnownHeaders, 'host' | 'origin'>): void;
}

export interface RequestGuardOptions {
  /** The address the hub was told to listen on. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const anyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

export function createGuard(options: RequestGuardOptions): Guard {
  const own = anyAddress.has(options.host) ? [] : [options.host.includes(':') ? `[${options.host}]` : options.host];
  const hosts = new Set([...loopback, ...own, ...options.allowedHosts].map((host) => host.toLowerCase()));
  // Every page without an origin sends `null`, and `*` would admit every page: neither can be allowed.
  const origins = new Set(options.allowedOrigins.filter(isSerialisedOrigin));
  /** The last Host that was allowed; most requests repeat it. */
  let served: string | undefined;

  function checkHost(host: string | undefined): void {
    if (host?.includes(',')) throw new HubError('INVALID_REQUEST', 'The request has more than one Host header.');
    const name = hostPattern.exec(host ?? '')?.[1]?.toLowerCase();
    if (name === undefined || !hosts.has(name)) throw refused('Host', host);
    served = host;
  }

  return {
    check({ host, origin }) {
      if (host === undefined || host !== served) checkHost(host);
      if (origin !== undefined && !origins.has(origin) && !isLoopbackOrigin(origin)) throw refused('Origin', origin);
    },
  };
}

/** A name or an address with an optional port. Nothing else, because responses repeat it. */
const hostPattern = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

function isLoopbackOrigin(origin: string): boolean {
  if (!isSerialisedOrigin(origin) || !/^https?:/.test(origin)) return false;
  return loopback.includes(new URL(origin).hostname);
}

/** Scheme, host and port as browsers write them: nothing else, in small letters, without the scheme's own port. */
function isSerialisedOrigin(text: string): boolean {
  if (!originPattern.test(text) || !URL.canParse(text)) return false;
  const { origin } = new URL(text);
  // Of a scheme that is not the web's, the parser does not know the form.
  return origin === text || (origin === 'null' && !text.startsWith('file:'));
}

const originPattern = /^[a-z][a-z\d+.-]*:\/\/(?:[a-z\d._~-]+|\[[\da-f:.]+\])(?::[1-9]\d{0,4})?$/;

function refused(header: string, value: string | undefined): HubError {
  return new HubError('FORBIDDEN_HOST', `This hub does not serve ${header} ${value?.slice(0, 200) ?? '(none)'}.`, {
    hint: `Add it to serve.allowed${header}s if it is yours.`,
  });
}
