import { describeMatrix } from './matrix.fixture.ts';
import { testCalls } from './matrix-calls.fixture.ts';
import { testChanges } from './matrix-changes.fixture.ts';
import { testResources } from './matrix-resources.fixture.ts';
import { testQuestions } from './matrix-server-requests.fixture.ts';

describeMatrix(
  () => ({}),
  (matrix) => {
    testResources(matrix);
    testCalls(matrix);
    testChanges(matrix);
    testQuestions(matrix);
  },
  ({ servers }) => servers === 'modern',
);
