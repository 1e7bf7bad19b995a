import { describeMatrix } from './matrix.fixture.ts';
import { testCalls } from './matrix-calls.fixture.ts';
import { testChanges } from './matrix-changes.fixture.ts';
import { testSharedPipes } from './matrix-pipes.fixture.ts';
import { testResources } from './matrix-resources.fixture.ts';

describeMatrix(
  () => ({}),
  (matrix, { reach }) => {
    testResources(matrix);
    testCalls(matrix);
    testChanges(matrix);
    if (reach === 'stdio') testSharedPipes(matrix);
  },
  ({ servers }) => servers === 'legacy',
);
