/** A function that reads texts of agents, servers or files, and texts that would be hard for a careless one. */
export interface CountedFunction {
  readonly name: string;
  /** Imports it: modules must be loaded while work is counted. */
  load(): Promise<(text: string) => unknown>;
  readonly texts: readonly ((length: number) => string)[];
}

export function times(part: string): (length: number) => string {
  return (length) => part.repeat(Math.ceil(length / part.length));
}

/** Percent-encoded throughout. */
export function everyByteEncoded(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '%$&');
}

/** What is refused was read all the same. */
export function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && error.constructor.name === 'TooMuchWork') throw error;
    return undefined;
  }
}
