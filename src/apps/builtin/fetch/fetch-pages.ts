import { lookup } from 'node:dns';
import { setImmediate as breathe } from 'node:timers/promises';
import { type AllowedHost, createEgressGuard, readAllowedHost, version } from '../../../base/index.ts';
import type { BuiltinDeps, BuiltinKind, BuiltinServer, BuiltinSettings } from '../builtin-kind.ts';
import { type GivenOptions, numberOption, readOptions, wrongOptions } from '../read-options.ts';
import { usages } from '../usages.ts';
import { dial } from './dial.ts';
import { createFetchTools, type FetchLimits } from './fetch-tools.ts';

const usage = usages.fetch;

/** Fetches web pages that agents name, except from networks this machine is part of. */
export const fetchPages: BuiltinKind = { ...usage, open };

async function open({ args }: BuiltinSettings, { clock }: BuiltinDeps): Promise<BuiltinServer> {
  const given = readOptions(usage, args);
  const limits = readLimits(given);
  const guard = createEgressGuard({ lookup }, { allowed: readAllowed(given) });
  return {
    instructions:
      'Reads pages of the public web with GET. Use fetch_markdown for pages and fetch_url for data. Long content comes in parts: each result says where the next part starts.',
    tools: createFetchTools({ clock, guard, dial, breathe }, limits),
    // Nothing to close: each call closes its own connections.
    close: async () => {},
  };
}

function readLimits(given: GivenOptions): FetchLimits {
  const number = (option: string, least: number, most: number, otherwise: number): number =>
    numberOption(usage, given, option, { least, most, otherwise });
  const userAgent = given.get('user-agent')?.[0] ?? `Quartermaster/${version} (fetch)`;
  if (!/^[ -~]{1,200}$/.test(userAgent))
    throw wrongOptions(usage.name, '--user-agent must be 1 to 200 characters of ASCII');
  return {
    maxBytes: number('max-bytes', 1024, 100 * 1024 * 1024, 5 * 1024 * 1024),
    timeoutMs: number('timeout', 1, 600, 30) * 1000,
    maxRedirects: number('max-redirects', 0, 20, 5),
    userAgent,
  };
}

function readAllowed(given: GivenOptions): AllowedHost[] {
  return (given.get('allow') ?? []).map((text) => {
    const host = readAllowedHost(text);
    if (host === undefined)
      throw wrongOptions(usage.name, `--allow takes a host or host:port, not ${JSON.stringify(text)}`);
    return host;
  });
}
