/**
 * `ui://` and `skill://` URIs belong to one server: the interface of its tools, and its skills. Agents see them with the
 * server's namespace in front and the scheme kept, so that no server can stand in for another:
 *
 *   ui://view.html of the server with the namespace `weather`  ⇄  ui://weather/view.html
 *
 * Whatever follows `ui://` is kept as it is, so the way back is exact but for the letter case of the scheme.
 */
export interface ScopedUri {
  readonly namespace: string;
  /** As the server writes it. */
  readonly own: string;
}

/** Undefined where the URI is not written as these are, with two slashes. Its scheme gets small letters. */
export function scopeUri(namespace: string, own: string): string | undefined {
  const found = scopedStart.exec(own);
  if (found === null) return undefined;
  const [start] = found;
  return `${start.toLowerCase()}${namespace}/${own.slice(start.length)}`;
}

/** Clients may write scheme and host in capitals, and some change them to small letters. */
export function readScopedUri(uri: string): ScopedUri | undefined {
  const head = /^(ui|skill):\/\/([^/]*)\//i.exec(uri);
  if (head === null) return undefined;
  const [all, scheme = '', namespace = ''] = head;
  return { namespace: namespace.toLowerCase(), own: `${scheme.toLowerCase()}://${uri.slice(all.length)}` };
}

export function hasScopedScheme(uri: string): boolean {
  return /^(?:ui|skill):/i.test(uri);
}

export function isUiUri(uri: string): boolean {
  return /^ui:/i.test(uri);
}

const scopedStart = /^(?:ui|skill):\/\//i;
