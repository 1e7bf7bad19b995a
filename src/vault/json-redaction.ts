import { afterJsonString } from '../base/index.ts';
import { redacted } from './credential-text.ts';
import { hidesValue, keyKind } from './secret-keys.ts';

export interface TextRules {
  /** Redacts the decoded content of a string. Returns the same string if it contains no secret. */
  content(text: string): string;
  /** Redacts the text between strings: punctuation, white space, numbers. */
  between(text: string): string;
}

/**
 * Walks JSON as text, string by string, and rewrites only the secret parts. It never parses and serialises the whole,
 * which would change big integers and drop repeated keys. What begins at or after position `most` is left out.
 */
export function redactJson(text: string, rules: TextRules, most: number = text.length): string {
  let result = '';
  let at = 0;
  while (at < most) {
    const open = text.indexOf('"', at);
    if (open < 0) break;
    result += rules.between(text.slice(at, open));
    const end = stringEnd(text, open);
    const literal = text.slice(open, end);
    const colon = skipSpace(text, end);
    if (text[colon] !== ':' || end >= most) {
      result += redactLiteral(literal, rules);
      at = end;
      continue;
    }
    const value = skipSpace(text, colon + 1);
    if (hidesValue(keyKind(decode(literal)), text[value] ?? '')) {
      result += `${redactLiteral(literal, rules)}:"${redacted}"`;
      at = valueEnd(text, value);
    } else {
      result += redactLiteral(literal, rules);
      at = end;
    }
  }
  return at < most ? result + rules.between(text.slice(at)) : result;
}

function redactLiteral(literal: string, rules: TextRules): string {
  const content = decode(literal);
  const shown = rules.content(content);
  return shown === content ? literal : JSON.stringify(shown);
}

function decode(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  return parsed(literal) ?? parsed(closed(literal)) ?? literal.slice(1, -1);
}

function parsed(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Closes a literal that was cut, without the escape that was cut with it. */
function closed(literal: string): string {
  return `${literal.replace(/\\(?:u[\da-fA-F]{0,3})?$/, '')}"`;
}

/** The position after the closing quote; of a string that was cut, the end of the text. */
function stringEnd(text: string, open: number): number {
  const end = afterJsonString(text, open);
  return end < 0 ? text.length : end;
}

/** The position after the value that begins here: a string, a whole object or array, or a bare word. */
function valueEnd(text: string, begin: number): number {
  let depth = 0;
  let at = begin;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = stringEnd(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (char === ',' || isSpace(text.charCodeAt(at)))) return at;
    at++;
  }
  return at;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}
