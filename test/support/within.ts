/** Far longer than anything takes, so that no test fails on a busy machine. */
const timeoutMs = 90_000;

/** Returns the value, or fails with a message that says what was awaited. */
export async function within<T>(promise: Promise<T>, what: string, ms = timeoutMs): Promise<T> {
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

/** Polls until a value is returned. For changes that nothing announces, such as lines in a file. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  what: string,
  ms = timeoutMs,
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
