/**
 * Valid JSON without line breaks. Pipes and event streams split messages at line breaks. In JSON these occur only
 * between tokens, where a space means the same. Positions in the text stay the same.
 */
export function oneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]/g, ' ') : json;
}
