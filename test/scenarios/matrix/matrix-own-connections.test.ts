import { describeMatrix } from './matrix.fixture.ts';
import { testOwnPipes } from './matrix-pipes.fixture.ts';
import { testQuestions } from './matrix-server-requests.fixture.ts';

describeMatrix(
  () => ({ isolation: 'per-session' }),
  (matrix, { servers }) => {
    if (servers === 'legacy') testQuestions(matrix);
    else testOwnPipes(matrix);
  },
  ({ servers, reach }) => servers === 'legacy' || reach === 'stdio',
);
