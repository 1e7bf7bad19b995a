import { build, runSteps, style, testPrograms, tests, types, unusedCode } from './steps.mjs';

const args = process.argv.slice(2);

console.log(`Node ${process.version}`);
if (args.length > 0) {
  console.log('With arguments: only build and tests; format, lint, types and unused code are not checked.');
  runSteps([build, tests(args)]);
} else {
  runSteps([testPrograms, build, style, types, unusedCode, tests([])]);
}
