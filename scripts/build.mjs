import { build, runSteps } from './steps.mjs';

runSteps([build]);
