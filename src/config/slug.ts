/** Turns words into a name that files and tool names can contain: `Backend Dev 🔧` becomes `backend-dev`. */
export function slug(words: string): string {
  return words
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64)
    .replace(/-$/, '');
}
