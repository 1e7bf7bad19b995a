/**
 * Calls `onLine` with each line of a byte stream. Not node:readline: that also splits at U+2028 and U+2029, which JSON
 * strings may hold as they are.
 */
export function onLines(stream, onLine) {
  let rest = [];
  stream.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      rest.push(chunk.subarray(start, end));
      const line = Buffer.concat(rest).toString('utf8');
      rest = [];
      start = end + 1;
      if (line.trim() !== '') onLine(line);
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  });
}
