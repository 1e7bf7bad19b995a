/**
 * A definition with its exposed name or URI. Discovery writes that member first, but remembered definitions
 * may differ.
 */
export function exposedText(
  text: string,
  member: 'name' | 'uri' | 'uriTemplate',
  own: string,
  exposed: string,
): string {
  const head = `{"${member}":${JSON.stringify(own)}`;
  if (text.startsWith(head)) return `{"${member}":${JSON.stringify(exposed)}${text.slice(head.length)}`;
  return JSON.stringify({ ...(JSON.parse(text) as object), [member]: exposed }); // a definition is an object
}
