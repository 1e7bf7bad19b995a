import type { TransportSpec } from './configuration.ts';

/** A provider whose server refuses to write if its address or its arguments say so. */
interface ReadOnlyMode {
  readonly host: string;
  readonly parameter: string;
  readonly flag: string;
}

/** Entered on 2026-11-18. */
const modes: readonly ReadOnlyMode[] = [{ host: 'mcp.supabase.com', parameter: 'read_only', flag: '--read-only' }];

/** The transport with the provider's read-only mode switched on, if its address is one that has such a mode. */
export function inReadOnlyMode<T extends TransportSpec>(transport: T): T {
  if (transport.type === 'http' || transport.type === 'sse')
    return { ...transport, url: readOnlyAddress(transport.url) };
  // `npx mcp-remote https://…` has the address as an argument.
  return { ...transport, args: transport.args.map(readOnlyAddress) };
}

function readOnlyAddress(text: string): string {
  const mode = modeOf(text);
  if (mode === undefined) return text;
  const url = new URL(text);
  if (!url.searchParams.has(mode.parameter) && url.hash === '') {
    return `${text}${url.search === '' ? '?' : '&'}${mode.parameter}=true`;
  }
  url.searchParams.set(mode.parameter, 'true');
  return url.href;
}

/** Whether the server behind this transport has been told to only read. */
export function isInReadOnlyMode(transport: TransportSpec): boolean {
  if (transport.type === 'http' || transport.type === 'sse') return isReadOnlyAddress(transport.url);
  return transport.args.some((arg) => isReadOnlyAddress(arg) || modes.some(({ flag }) => flag === arg));
}

function isReadOnlyAddress(text: string): boolean {
  const mode = modeOf(text);
  if (mode === undefined) return false;
  const values = new URL(text).searchParams.getAll(mode.parameter);
  return values.length === 1 && values[0] === 'true';
}

function modeOf(text: string): ReadOnlyMode | undefined {
  if (!text.startsWith('https://') || !URL.canParse(text)) return undefined;
  const { hostname } = new URL(text);
  return modes.find(({ host }) => host === hostname);
}
