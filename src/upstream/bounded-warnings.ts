import type { Clock, Logger } from '../base/index.ts';

/** What is odd about the lists of a server: each thing once, and no more than anybody reads. */
export class BoundedWarnings {
  readonly #told = new Set<string>();
  #more = 0;

  add(warning: string): void {
    if (this.#told.has(warning)) return;
    if (this.#told.size < mostWarnings) this.#told.add(warning);
    else this.#more++;
  }

  all(): readonly string[] {
    return this.#more === 0 ? [...this.#told] : [...this.#told, `and ${this.#more} more such warnings`];
  }
}

const mostWarnings = 20;

/** Warnings about what a server offers are logged once in this time. */
const warnAgainMs = 60_000;

/** A server whose lists change without end, each time with something odd, does not fill the log. */
export function createWarningLog(
  {
    clock,
    logger,
    redact,
  }: { readonly clock: Clock; readonly logger: Logger; readonly redact: (text: string) => string },
  server: string,
): (warnings: readonly string[], told: ReadonlySet<string>) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (warnings, told) => {
    const fresh = warnings.filter((warning) => !told.has(warning));
    const now = clock.monotonic();
    if (fresh.length === 0 || now - warnedAt < warnAgainMs) return;
    warnedAt = now;
    for (const warning of fresh) logger.warn('upstream_offer_warning', { server, warning: redact(warning) });
  };
}
