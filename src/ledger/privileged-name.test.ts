import { expect, test } from 'vitest';
import { isPrivilegedName } from './privileged-name.ts';

test.each([
  'write_file',
  'overwrite',
  'DeleteAll',
  'execute_query',
  'exec',
  'shell-exec',
  'gitPush',
  'runCommand',
  'drop_table',
  'create_issue',
  'move.file',
])('%s changes or runs something', (tool) => {
  expect(isPrivilegedName(tool)).toBe(true);
});

test.each(['read_file', 'list_directory', 'search', 'brunch', 'outputs', 'get_runtime', 'truncated', ''])(
  '%s does not',
  (tool) => {
    expect(isPrivilegedName(tool)).toBe(false);
  },
);
