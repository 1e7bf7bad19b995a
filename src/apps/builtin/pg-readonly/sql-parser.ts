import type { ParserMemory } from 'libpg-query/wasm/libpg-query.js';
import { ToolFault } from '../../serving/index.ts';

/** PostgreSQL's own grammar, as WebAssembly. Loaded with the first statement. */
export interface SqlParser {
  /** Parses the text like PostgreSQL, or throws a ToolFault with the position of the syntax error. */
  parse(sql: string): Promise<ParsedSql>;
}

export interface ParsedSql {
  readonly stmts?: readonly ParsedStatement[];
}

export interface ParsedStatement {
  /** An object with one key, the kind: `SelectStmt`. */
  readonly stmt: SqlNode;
  /** In bytes of UTF-8. Without a length, the statement extends to the end. */
  readonly stmt_location?: number;
  readonly stmt_len?: number;
}

export interface SqlNode {
  readonly [key: string]: unknown;
}

/** More than anybody writes; parsing blocks the process. */
const maxCharacters = 20_000;

/** The parser rescans such runs from each of their characters. Rulers in comments are shorter. */
const longOperator = /[-+*/<>=~!@#%^&|`?]{250}/;

export function createSqlParser(): SqlParser {
  let memory: Promise<ParserMemory> | undefined;
  const parse = async (sql: string): Promise<ParsedSql> => {
    memory ??= import('libpg-query/wasm/libpg-query.js').then(({ default: create }) => create());
    const asked = memory;
    const used = await asked;
    // Another text has corrupted the parser meanwhile.
    if (asked !== memory) return parse(sql);
    let answer: ParserAnswer;
    try {
      answer = askParser(used, sql);
    } catch {
      // Deep nesting overflowed the stack, which corrupts the parser's memory, so it cannot be used again.
      memory = undefined;
      throw new ToolFault('The SQL is nested too deeply. Write it with fewer levels.');
    }
    if (answer.tree === undefined) throw new ToolFault(`This is not valid PostgreSQL: ${answer.problem}.`);
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

/** Refuses text that the parser and the server might read differently. */
function refuseOddText(sql: string): void {
  if (sql.length > maxCharacters) {
    throw new ToolFault(`The SQL has ${sql.length} characters; at most ${maxCharacters} are taken.`);
  }
  if (sql.includes('\0')) throw new ToolFault('The SQL contains a NUL character, which PostgreSQL does not accept.');
  if (longOperator.test(sql)) throw new ToolFault('The SQL contains a long run of operator characters. Remove it.');
  if (/\p{Surrogate}/u.test(sql)) throw new ToolFault('The SQL contains a lone surrogate, which is not valid Unicode.');
}

type ParserAnswer = { readonly tree: string } | { readonly tree?: undefined; readonly problem: string };

/**
 * The result is a struct of pointers: tree, stderr, error. An error starts with its message and contains a position.
 */
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
