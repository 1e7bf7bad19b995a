import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStderrTail, lastStderrLine } from './stderr-tail.ts';

test('keeps everything while it fits', () => {
  const tail = createStderrTail(8);
  tail.push(Buffer.from('ab'));
  tail.push(Buffer.from('cd'));
  expect(tail.text()).toBe('abcd');
});

test('keeps exactly the last bytes, however they come', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{0,20}$/)), (chunks) => {
      const tail = createStderrTail(16);
      for (const chunk of chunks) tail.push(Buffer.from(chunk));
      expect(tail.text()).toBe(chunks.join('').slice(-16));
    }),
  );
});

test('does not begin with half a character', () => {
  const tail = createStderrTail(5);
  tail.push(Buffer.from('x€€'));
  tail.push(Buffer.from('!'));
  expect(tail.text()).toBe('€!');
});

test.each([
  ['', ''],
  ['one\nset KEY first\n\n', 'set KEY first'],
  [
    `node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/w/x.mjs'\n    at Module._load (node:internal)\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.19.0\n`,
    "Error: Cannot find module '/w/x.mjs'",
  ],
  [
    `npm error code E404\nnpm error 404\nnpm error 404  The requested resource 'x@1' could not be found.\nnpm error 404\nnpm error 404 Note that you can also install from a\nnpm error 404 tarball, folder, http url, or git url.\nnpm error A complete log of this run can be found in: /home/me/x.log\n`,
    "npm error 404  The requested resource 'x@1' could not be found.",
  ],
  ['  only indented\n}\n', '}'],
])('the most useful words of %j are %j', (tail, words) => {
  expect(lastStderrLine(tail)).toBe(words);
});

test('what was cut through at the beginning is not shown', () => {
  for (const separator of ['\n', ' ']) {
    const tail = createStderrTail(4096);
    tail.push(Buffer.from(`the value is s3cr3t-value-of-a-key${separator}${'more '.repeat(814)}`));
    expect(tail.text()).not.toContain('value-of-a-key');
    expect(tail.text()).toContain('more more');
  }
});
