export interface Ended {
  readonly code: number | null;
  readonly isLate: boolean;
  readonly output: string;
  readonly ms: number;
}

export function runProgram(
  command: readonly string[],
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
  deadline: AbortSignal,
): Promise<Ended>;
