/** The hub in a sentence. One in the background has no address that anybody could use. */
export function hubWords(url: string): string {
  return url.startsWith('unix:') ? 'hub in the background' : `hub at ${url}`;
}
