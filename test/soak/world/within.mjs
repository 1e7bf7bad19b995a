/** The value, or a failure that says what was waited for. */
export async function within(promise, ms, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks again and again until `look` gives something; undefined when it never does. */
export async function eventually(look, ms) {
  const end = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found || performance.now() > end) return found;
    await pause(50);
  }
}
