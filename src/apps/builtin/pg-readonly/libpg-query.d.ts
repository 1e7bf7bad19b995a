/** The part of the package that creates parsers. Its main export is a single parser for the whole process. */
declare module 'libpg-query/wasm/libpg-query.js' {
  export interface ParserMemory {
    lengthBytesUTF8(text: string): number;
    stringToUTF8(text: string, pointer: number, size: number): void;
    UTF8ToString(pointer: number): string;
    getValue(pointer: number, type: 'i32'): number;
    _malloc(size: number): number;
    _free(pointer: number): void;
    _wasm_parse_query_raw(pointer: number): number;
    _wasm_free_parse_result(pointer: number): void;
  }

  const createParserMemory: () => Promise<ParserMemory>;
  // biome-ignore lint/style/noDefaultExport: the package's own export
  export default createParserMemory;
}
