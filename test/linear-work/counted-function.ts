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
