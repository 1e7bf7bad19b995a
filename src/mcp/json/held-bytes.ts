import { countedBytes } from '../../base/index.ts';

/**
 * What a message takes in memory as long as any part of it is needed: a text that is cut out of a long one keeps it, and
 * small parsed values take more than their text. Zero for small messages, which are not counted.
 */
export function heldBytesOf(text: string): number {
  return text.length <= countedBytes ? 0 : text.length + valueBytes * countValues(text);
}

/** What a small parsed value takes, such as an empty array. */
const valueBytes = 32;
const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];

/** At most as many values as the text has commas and opening brackets; those inside strings count too. */
function countValues(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === comma || code === bracket || code === brace) count++;
  }
  return count;
}
