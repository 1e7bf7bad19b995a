import type { Clock, Logger } from '../../base/index.ts';

/** Warnings about the lists of a server, without repetition and up to a limit. */
export class BoundedWarnings {
  readonly #warnings = new Set<string>();
  #more = 0;

  add(warning: string): void {
    if (this.#warnings.has(warning)) return;
    if (this.#warnings.size < mostWarnings) this.#warnings.add(warning);
    else this.#more++;
  }

  all(): readonly string[] {
    return this.#more === 0 ? [...this.#warnings] : [...this.#warnings, `and ${this.#more} more such warnings`];
  }
}

const mostWarnings = 20;

/** Warnings about a server's lists are logged at most once in this time. */
const warnAgainMs = 60_000;

/** Limits the log lines for a server whose lists keep changing with new warnings. */
export function createWarningLog(
  {
    clock,
    logger,
    redact,
  }: { readonly clock: Clock; readonly logger: Logger; readonly redact: (text: string) => string },
  server: string,
): (warnings: readonly string[], logged: ReadonlySet<string>) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (warnings, logged) => {
    const fresh = warnings.filter((warning) => !logged.has(warning));
    const now = clock.monotonic();
    if (fresh.length === 0 || now - warnedAt < warnAgainMs) return;
    warnedAt = now;
    for (const warning of fresh) logger.warn('upstream.catalog-warned', { server, warning: redact(warning) });
  };
}
