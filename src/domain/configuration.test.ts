import { expect, test } from 'vitest';
import { placeOf } from './configuration.ts';

test('a place is a file, and its line where there is one', () => {
  expect(placeOf({ file: 'quartermaster.yaml', line: 3 })).toBe('quartermaster.yaml:3');
  expect(placeOf({ file: '.mcp.json' })).toBe('.mcp.json');
});
