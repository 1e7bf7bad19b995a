import { expect, test } from 'vitest';
import { createSqlParser } from './sql-parser.ts';
import { type ReadStatement, readStatement } from './statement.ts';

const parser = createSqlParser();

async function read(sql: string): Promise<ReadStatement> {
  return readStatement(sql, await parser.parse(sql));
}

/** Without the comparisons that are always there. */
async function mentionsOf(sql: string): Promise<string[]> {
  const { mentions } = await read(sql);
  const names = mentions.map(({ kind, schema, name }) => `${kind} ${schema === null ? '' : `${schema}.`}${name}`);
  return names.filter((name) => !/^operator [<>=]+$/.test(name)).sort();
}

test.each([
  ['SELECT 1', 'rows', 'SELECT 1'],
  ["SELECT 'é; 名' ; -- the end", 'rows', "SELECT 'é; 名' "],
  ['/* é😀 */\n;VALUES (1);', 'rows', '        \n VALUES (1)'],
  ['EXPLAIN ANALYZE TABLE a', 'report', 'EXPLAIN ANALYZE TABLE a'],
  ['SHOW ALL', 'report', 'SHOW ALL'],
])('%s is read', async (sql, kind, text) => {
  expect(await read(sql)).toMatchObject({ kind, text });
});

test.each([
  ['INSERT INTO a VALUES (1)', 'INSERT is not allowed here'],
  ['DROP TABLE a', 'DROP is not allowed here'],
  ['CREATE TABLE a AS SELECT 1', 'CREATE TABLE AS is not allowed here'],
  ['SET a = 1', 'SET is not allowed here'],
  ['COMMIT', 'A transaction command is not allowed here'],
  ['COPY a TO STDOUT', 'COPY is not allowed here'],
  ['EXPLAIN DELETE FROM a', 'DELETE is not allowed here'],
  ['WITH a AS (UPDATE b SET c = 1) SELECT 1', 'UPDATE is not allowed here, not even inside a query'],
  ['SELECT 1 INTO a', 'SELECT … INTO'],
  ['SELECT 1 FROM a FOR SHARE', 'FOR UPDATE and FOR SHARE'],
  ['SELECT 1; SELECT 2', 'The SQL contains several statements'],
  ['-- nothing', 'The SQL contains no statement'],
])('%s is refused by name', async (sql, message) => {
  await expect(read(sql)).rejects.toThrow(message);
});

test('calls are found wherever they stand', async () => {
  expect(await mentionsOf('SELECT a.b.f(g(1)) FROM h() WHERE EXISTS (VALUES (i()))')).toEqual([
    'function b.f',
    'function g',
    'function h',
    'function i',
  ]);
  expect(await mentionsOf('SELECT 1 @@@ 2 ORDER BY 1 USING #>#')).toEqual(['operator #>#', 'operator @@@']);
  expect(await mentionsOf("SELECT a OPERATOR(b.+) c, 'x'::d.e, a.f, (a).g, (h).i.j")).toEqual([
    'operator b.+',
    'reference f',
    'reference g',
    'reference i',
    'reference j',
    'type d.e',
  ]);
  expect(await mentionsOf("SELECT JSON_VALUE('{}', '$')")).toContain('function json_value');
});
