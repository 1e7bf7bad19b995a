/** How long a client waits for the answer to a call, less a margin. Measured: docs/guides/approvals.md. */
interface ClientWait {
  /** With progress every few seconds, and without. */
  readonly withProgress: number;
  readonly silent: number;
  /** When it was measured; undefined for our own client. */
  readonly measured?: string;
}

const safeMs = 280_000;

/** By the client's name in `initialize` or in the metadata of a modern request. */
const clientWaits: ReadonlyMap<string, ClientWait> = new Map<string, ClientWait>([
  ['claude-code', { withProgress: safeMs, silent: 140_000, measured: '2026-11-17' }],
  ['opencode', { withProgress: safeMs, silent: 50_000, measured: '2026-11-17' }],
  ['github-copilot-developer', { withProgress: safeMs, silent: 140_000, measured: '2026-11-17' }],
  ['gemini-cli-mcp-client', { withProgress: safeMs, silent: 140_000, measured: '2026-11-17' }],
  ['codex-mcp-client', { withProgress: safeMs, silent: 140_000, measured: '2026-11-17' }],
  // `qm call` waits until somebody decides.
  ['qm', { withProgress: Number.POSITIVE_INFINITY, silent: Number.POSITIVE_INFINITY }],
]);

/** Clients that were not measured, and clients that take no progress. */
const unknownClientMs = 50_000;

export function approvalWaitOf(client: string | undefined, wantsProgress: boolean): number {
  const known = client === undefined ? undefined : clientWaits.get(client);
  if (known === undefined) return unknownClientMs;
  return wantsProgress ? known.withProgress : known.silent;
}
