/** The code of a failed system call, such as `ENOENT`. Undefined for any other value. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
