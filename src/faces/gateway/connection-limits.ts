/** How many connections there may be at once. */
export interface ConnectionLimits {
  readonly total: number;
  /** Without a valid token. */
  readonly unproved: number;
  /** The same from one address that is not this machine's own. */
  readonly unprovedPerAddress: number;
  /** With one token. */
  readonly perOwner: number;
}

/** Half of what the process may open is left to servers, files and the journal. */
export function connectionLimits(descriptors: number): ConnectionLimits {
  const total = Math.min(Math.max(Math.floor(descriptors / 2), 32), 16_384);
  return {
    total,
    unproved: Math.min(Math.floor(total / 4), 256),
    unprovedPerAddress: Math.min(Math.floor(total / 8), 64),
    perOwner: Math.min(Math.floor(total / 4), 1024),
  };
}
