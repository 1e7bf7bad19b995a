import { compare } from '../harness/compare.mjs';
import { everyContender } from '../harness/contenders.mjs';
import { comparisonTable } from './comparison-table.mjs';

/** Everybody in front of the same echo server; figures are read against the bare hop to the same upstream. */
export async function measureSpeed(bench, { only, bytes, inFlight, rounds, calls }) {
  const contenders = everyContender(bench).filter(
    ({ name }) => only === undefined || only.some((start) => name.startsWith(start)),
  );
  if (contenders.length === 0) throw new Error(`--only ${only}: nobody's name starts so`);
  const referenceOf = ({ upstream }) => `bare-${upstream}`;
  const result = await compare(bench, contenders, { referenceOf, bytes, inFlight, rounds, calls });
  return {
    title: `Speed: × is the ratio to the bare hop of the same upstream (rounds: ${rounds}, calls in each: ${calls})`,
    text: comparisonTable(result.rows),
    ...result,
  };
}
