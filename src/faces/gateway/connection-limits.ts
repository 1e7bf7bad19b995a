/** How many connections there may be at once. */
export interface ConnectionLimits {
  readonly total: number;
  /** Without a valid token. */
  readonly unauthenticated: number;
  /** The same from one address that is not this machine's own. */
  readonly unauthenticatedPerAddress: number;
  /** Of one agent, with any of its tokens. */
  readonly perOwner: number;
}

/** Half of what the process may open is left to servers, files and the journal. */
export function connectionLimits(descriptors: number): ConnectionLimits {
  const total = Math.min(Math.max(Math.floor(descriptors / 2), 32), 16_384);
  return {
    total,
    unauthenticated: Math.min(Math.floor(total / 4), 256),
    unauthenticatedPerAddress: Math.min(Math.floor(total / 8), 64),
    perOwner: Math.min(Math.floor(total / 4), 1024),
  };
}
