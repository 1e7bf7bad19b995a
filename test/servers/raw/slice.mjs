/**
 * The text of one value inside a JSON text, byte for byte as it was sent: what JSON.parse loses (big integers, repeated
 * keys, number spelling) is still there. The text must be valid JSON. A repeated key counts as JSON.parse counts it:
 * the last one.
 */
export function sliceOf(text, path) {
  let [start, end] = [skipSpace(text, 0), text.length];
  for (const key of path) {
    const found = memberOf(text, start, key);
    if (found === undefined) return undefined;
    [start, end] = found;
  }
  return text.slice(start, end);
}

function memberOf(text, start, wanted) {
  if (text[start] !== '{') return undefined;
  let found;
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (JSON.parse(text.slice(at, keyEnd)) === wanted) found = [valueStart, valueEnd];
    at = skipSpace(text, valueEnd);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

function endOfValue(text, start) {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== '{' && text[start] !== '[') {
    let at = start;
    while (at < text.length && !/[\s,\]}]/.test(text[at])) at += 1;
    return at;
  }
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '"') at = endOfString(text, at) - 1;
    else if (text[at] === '{' || text[at] === '[') depth += 1;
    else if (text[at] === '}' || text[at] === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function endOfString(text, start) {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipSpace(text, start) {
  let at = start;
  while (at < text.length && /\s/.test(text[at])) at += 1;
  return at;
}
