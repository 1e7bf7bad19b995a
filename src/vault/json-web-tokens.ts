/**
 * Hides `eyJ….….…`: three runs of letters, digits, `_` and `-`. Any `eyJ` at the start of a word could begin a token,
 * and a pattern would read to the end of the run from each of them. Here the end of a run is found once.
 */
export function hideJsonWebTokens(text: string, replacement: string): string {
  let shown = '';
  let copied = 0;
  let at = text.indexOf('eyJ');
  while (at >= 0) {
    const end = endOfRun(text, at);
    const start = firstStart(text, at, end);
    const past = start === undefined ? undefined : endOfToken(text, end);
    if (start !== undefined && past !== undefined) {
      shown += text.slice(copied, start) + replacement;
      copied = past;
    }
    at = text.indexOf('eyJ', past ?? end);
  }
  return copied === 0 ? text : shown + text.slice(copied);
}

const shortestHeader = 'eyJ'.length + 8;
const shortestPayload = 4;

/** The first `eyJ` of the run that begins a word and has enough characters after it. */
function firstStart(text: string, from: number, end: number): number | undefined {
  for (let at = from; at >= 0 && at + shortestHeader <= end; at = text.indexOf('eyJ', at + 1)) {
    if (!isAlphanumeric(text.charCodeAt(at - 1))) return at;
  }
  return undefined;
}

/** The end of the payload and signature, if they follow. */
function endOfToken(text: string, headerEnd: number): number | undefined {
  if (text[headerEnd] !== '.') return undefined;
  const payloadEnd = endOfRun(text, headerEnd + 1);
  if (text[payloadEnd] !== '.' || payloadEnd - headerEnd - 1 < shortestPayload) return undefined;
  return endOfRun(text, payloadEnd + 1);
}

function endOfRun(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (!isAlphanumeric(code) && code !== 95 && code !== 45) return at;
    at++;
  }
}

function isAlphanumeric(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}
