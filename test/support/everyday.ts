/**
 * `npm test` sets MATRIX=half: where many combinations repeat one another, it runs a part in which each of their members
 * still occurs. `npm run test:mcp` and vitest by itself run all of them.
 */
export function isEverydayRun(): boolean {
  return process.env.MATRIX === 'half';
}
