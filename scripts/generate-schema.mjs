// Writes quartermaster.schema.json from the built configuration schema: npm run build && node scripts/generate-schema.mjs
import { writeFile } from 'node:fs/promises';
import { fleetSchema } from '../dist/config/index.js';

const target = new URL('../quartermaster.schema.json', import.meta.url);
await writeFile(target, `${JSON.stringify(fleetSchema(), undefined, 2)}\n`);
