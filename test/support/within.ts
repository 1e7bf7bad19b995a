/** Far beyond what anything takes, so that a busy machine fails no test. */
const patienceMs = 45_000;

/** The value, or a failure that says what was waited for. */
export async function within<T>(promise: Promise<T>, what: string, ms = patienceMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again and again until something comes back; for what nobody announces, such as lines of a file. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  what: string,
  ms = patienceMs,
): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`Waited ${ms} ms for ${what}`);
    await pause(10);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
