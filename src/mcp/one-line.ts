/**
 * Valid JSON without line breaks. JSON has them between tokens only, where a blank says the same; but
 * pipes and event streams cut messages there, so a line break inside would make two messages of one.
 * Nothing moves: positions in the text stay as they are.
 */
export function oneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]/g, ' ') : json;
}
