import { build, runSteps, style, testPrograms, tests, types, unusedCode } from './steps.mjs';

const args = process.argv.slice(2);

console.log(`Node ${process.version}`);
if (args.length > 0) {
  console.log('With arguments: only build and tests; format, lint, types and unused code are not checked.');
  runSteps([build, tests(args)]);
} else {
  // The everyday suite runs half of the cells of the matrix; `npm run test:mcp` runs all of them.
  process.env.MATRIX = 'half';
  runSteps([testPrograms, build, style, types, unusedCode, tests([])]);
}
