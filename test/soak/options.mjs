import { parseArgs } from 'node:util';
import { chaosNames } from './world/chaos.mjs';

export const usage = `npm run soak -- [options]      needs a build: npm run build

  --minutes N      how long the load lasts (20)
  --seed N         what is done and what goes wrong (by chance)
  --rate N         operations a second (60)
  --without NAME   leaves a sort of chaos out; may be repeated: ${chaosNames.join(', ')}, or all
  --keep           keeps the workspace; after a failure it is kept anyway
`;

export function readOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      minutes: { type: 'string', default: '20' },
      seed: { type: 'string' },
      rate: { type: 'string', default: '60' },
      without: { type: 'string', multiple: true, default: [] },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const seed = values.seed ?? String(Math.floor(Math.random() * 1_000_000));
  const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
  if (!(minutes > 0) || !(rate > 0) || !Number.isInteger(Number(seed))) throw new Error('A number is expected.');
  const unknown = values.without.find((name) => name !== 'all' && !chaosNames.includes(name));
  if (unknown !== undefined) throw new Error(`There is no chaos called "${unknown}".`);
  return {
    minutes,
    rate,
    seed: Number(seed),
    without: values.without.includes('all') ? chaosNames : values.without,
    keep: values.keep,
    help: values.help,
  };
}
