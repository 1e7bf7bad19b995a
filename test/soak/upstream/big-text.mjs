/** A text of that many characters which no other call has: the caller makes it, too, and compares. */
export function bigText(label, nonce, length) {
  const sign = `${label}:${nonce}:`;
  return sign.repeat(Math.ceil(length / sign.length)).slice(0, length);
}
