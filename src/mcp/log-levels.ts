/** From the least to the most serious. */
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

/** Whether a message of that level is wanted; without a wish everything is. */
export function reachesLevel(level: unknown, wanted: string | undefined): boolean {
  return wanted === undefined || logLevels.indexOf(level as string) >= logLevels.indexOf(wanted); // a foreign level is below all
}
