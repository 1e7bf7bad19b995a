import { HubError } from '../../base/index.ts';
import type { KnownHeaders } from './known-headers.ts';

/**
 * A web page can make a browser send requests to loopback addresses, under a host name of its
 * choosing. Only names that the operator knows are served, and only origins the operator named.
 */
export interface Guard {
  /** Throws HubError when the request did not come for this hub. */
  check(headers: Pick<KnownHeaders, 'host' | 'origin'>): void;
}

export interface GuardOptions {
  /** The address the hub was told to listen on. */
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const anyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

export function createGuard(options: GuardOptions): Guard {
  const own = anyAddress.has(options.host) ? [] : [options.host.includes(':') ? `[${options.host}]` : options.host];
  const hosts = new Set([...loopback, ...own, ...options.allowedHosts].map((host) => host.toLowerCase()));
  // A page of any origin is what the guard is against, so a star is no name.
  const origins = new Set(options.allowedOrigins.filter((origin) => origin !== '*'));
  /** The Host that came last; most requests repeat it. */
  let served: string | undefined;

  function checkHost(host: string | undefined): void {
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

/** A name or an address, and a port; answers repeat it, so it is nothing else. */
const hostPattern = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url !== undefined && url.origin === origin && loopback.includes(url.hostname);
}

function refused(header: string, value: string | undefined): HubError {
  return new HubError('FORBIDDEN_HOST', `This hub does not serve ${header} ${value?.slice(0, 200) ?? '(none)'}.`, {
    hint: `Add it to serve.allowed${header}s if it is yours.`,
  });
}
