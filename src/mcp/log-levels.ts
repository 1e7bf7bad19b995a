/** In ascending order of severity. */
export const logLevels: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** Whether a message of that level should be sent. Without a requested level, every message is. */
export function reachesLevel(level: unknown, wanted: string | undefined): boolean {
  // an unknown level is below all
  return wanted === undefined || logLevels.indexOf(level as string) >= logLevels.indexOf(wanted);
}
