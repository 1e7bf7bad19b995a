import type { ParserMemory } from 'libpg-query/wasm/libpg-query.js';
import { ToolFault } from '../../serving/index.ts';

/** PostgreSQL's own grammar, as WebAssembly. Loaded when the first statement comes. */
export interface SqlParser {
  /** What PostgreSQL would make of the text, or a ToolFault that says where it stops to be SQL. */
  parse(sql: string): Promise<ParsedSql>;
}

export interface ParsedSql {
  readonly stmts?: readonly ParsedStatement[];
}

export interface ParsedStatement {
  /** One key, the kind: `SelectStmt`. */
  readonly stmt: SqlNode;
  /** In bytes of UTF-8; without a length the statement goes to the end. */
  readonly stmt_location?: number;
  readonly stmt_len?: number;
}

export interface SqlNode {
  readonly [key: string]: unknown;
}

/** More than anybody writes; parsing blocks the process for as long as it takes. */
const maxCharacters = 20_000;

/** The parser looks at such rows again from each of their characters; rulers in comments are shorter. */
const longOperator = /[-+*/<>=~!@#%^&|`?]{250}/;

export function createSqlParser(): SqlParser {
  let memory: Promise<ParserMemory> | undefined;
  const parse = async (sql: string): Promise<ParsedSql> => {
    memory ??= import('libpg-query/wasm/libpg-query.js').then(({ default: create }) => create());
    const asked = memory;
    const used = await asked;
    // Another text has spoilt it meanwhile.
    if (asked !== memory) return parse(sql);
    let answer: ParserAnswer;
    try {
      answer = askParser(used, sql);
    } catch {
      // Nesting overflowed the stack. That leaves the parser's memory in disorder, so nobody may ask it again.
      memory = undefined;
      throw new ToolFault('The SQL is nested too deeply. Write it with fewer levels.');
    }
    if (answer.tree === undefined) throw new ToolFault(`This is not SQL that PostgreSQL reads: ${answer.problem}.`);
    // The documented shape of the parser's output.
    return JSON.parse(answer.tree) as ParsedSql;
  };
  return {
    async parse(sql) {
      refuseOddText(sql);
      return parse(sql);
    },
  };
}

/** What the parser and the server might read differently never reaches either. */
function refuseOddText(sql: string): void {
  if (sql.length > maxCharacters) {
    throw new ToolFault(`The SQL has ${sql.length} characters; at most ${maxCharacters} are taken.`);
  }
  if (sql.includes('\0')) throw new ToolFault('The SQL holds a NUL character, which PostgreSQL does not take.');
  if (longOperator.test(sql)) throw new ToolFault('The SQL holds a long row of operator characters. Leave it out.');
  if (/\p{Surrogate}/u.test(sql)) throw new ToolFault('The SQL holds half a character, which is not valid Unicode.');
}

type ParserAnswer = { readonly tree: string } | { readonly tree?: undefined; readonly problem: string };

/** The result is a struct of pointers: tree, stderr, error; an error begins with its message and holds a position. */
function askParser(memory: ParserMemory, sql: string): ParserAnswer {
  const size = memory.lengthBytesUTF8(sql) + 1;
  const text = memory._malloc(size);
  memory.stringToUTF8(sql, text, size);
  const result = memory._wasm_parse_query_raw(text);
  const tree = memory.getValue(result, 'i32');
  const error = memory.getValue(result + 8, 'i32');
  const answer: ParserAnswer =
    error === 0
      ? { tree: memory.UTF8ToString(tree) }
      : { problem: problemAt(memory.UTF8ToString(memory.getValue(error, 'i32')), memory.getValue(error + 16, 'i32')) };
  memory._wasm_free_parse_result(result);
  memory._free(text);
  return answer;
}

function problemAt(message: string, position: number): string {
  const short = message.length > 500 ? `${message.slice(0, 500)}…` : message;
  return position > 0 ? `${short} (at character ${position})` : short;
}
