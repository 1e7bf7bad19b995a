import { isProgram, type TransportDraft, type WrittenText } from '../servers/server-draft.ts';
import type { Grammar } from './interpolation.ts';

export interface LiteralSecret {
  readonly at: WrittenText;
  /** The secret itself, for redaction. Never put it in a message. */
  readonly value: string;
  /** A variable to use instead. */
  readonly variable: string;
}

/** A variable as a format writes it, or what to do in a format whose texts have none, as the start of a sentence. */
export type WrittenVariable = { readonly text: string } | { readonly advice: string };

export type WriteVariable = (name: string) => WrittenVariable;

/** A credential in a file, for the command that moves it into the secret store. */
export interface FoundLiteral {
  readonly server: string;
  readonly file: string;
  readonly at: WrittenText;
  /** The secret itself, which may be a part of the text. Never put it in a message. */
  readonly value: string;
  readonly variable: string;
  /** Undefined: texts of this format contain no variables. */
  readonly write: ((name: string) => string) | undefined;
}

/** Finds credentials written in the file itself. */
export function findLiteralSecrets(server: string, transport: TransportDraft, grammar: Grammar): LiteralSecret[] {
  const hasVariable: HasVariable = (text) => {
    const parsed = grammar(text);
    return parsed.kind === 'fault' || parsed.parts.some((part) => part.kind !== 'literal');
  };
  const fallback = upperSnake(`${server}_TOKEN`);
  const found: LiteralSecret[] = [];
  const add = (at: WrittenText, value: string | undefined, variable: string): void => {
    if (value !== undefined) found.push({ at, value, variable });
  };
  if (!isProgram(transport)) {
    add(transport.url, knownToken(transport.url.text) ?? urlSecret(transport.url.text, hasVariable), fallback);
    for (const [name, at] of transport.headers) add(at, headerSecret(name, at.text, hasVariable), fallback);
    return found;
  }
  for (const [name, at] of transport.env) add(at, envSecret(name, at.text, hasVariable), upperSnake(name));
  for (const [index, at] of transport.args.entries()) {
    add(at, argumentSecret(transport.args[index - 1]?.text, at.text, hasVariable), fallback);
  }
  return found;
}

type HasVariable = (text: string) => boolean;

/** Recognisable token formats of common issuers. */
const tokenPattern =
  /\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|[rs]k_(?:live|test)_\w{16,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|ntn_\w{20,}|lin_api_\w{20,}|sbp_[0-9a-f]{20,}|dop_v1_[0-9a-f]{32,}|(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+)/;

const secretNames = /(?:token|secret|passw(?:or)?d|api[-_]?key|access[-_]?key|private[-_]?key|credentials?)$/i;
const secretHeaders = /^(?:proxy-)?authorization$|(?:token|secret|(?:api|access)[-_]?key|password)$/i;

function knownToken(text: string): string | undefined {
  const token = tokenPattern.exec(text)?.[0];
  return token === undefined || filler.test(token) ? undefined : token;
}

/** `ghp_xxxxxxxx` and `sk-********` show the form of a token. */
const filler = /x{6}|0{6}|\*{3}|\.{3}|…/i;

function headerSecret(name: string, text: string, hasVariable: HasVariable): string | undefined {
  const token = knownToken(text);
  if (token !== undefined || hasVariable(text) || !secretHeaders.test(name)) return token;
  return longEnough(text.trim().replace(/^(?:bearer|basic|token|apikey)\s+/i, ''), 12);
}

function envSecret(name: string, text: string, hasVariable: HasVariable): string | undefined {
  const token = knownToken(text) ?? urlSecret(text, hasVariable);
  if (token !== undefined || hasVariable(text) || !secretNames.test(name)) return token;
  // Under such a name, a path or URL only locates the secret.
  return /^[./~]|^[A-Za-z]:\\|:\/\//.test(text) ? undefined : longEnough(text, 8);
}

function argumentSecret(before: string | undefined, text: string, hasVariable: HasVariable): string | undefined {
  const token = knownToken(text) ?? urlSecret(text, hasVariable);
  if (token !== undefined || hasVariable(text)) return token;
  const [, flag, value] = /^--?([\w-]+)=(.+)$/s.exec(text) ?? [];
  if (flag !== undefined && value !== undefined) return secretNames.test(flag) ? longEnough(value, 8) : undefined;
  const isFlag = before !== undefined && /^--?[\w-]+$/.test(before) && secretNames.test(before);
  return isFlag && !text.startsWith('-') ? longEnough(text, 8) : undefined;
}

/** A password in the URL, or a query parameter with a secret name. */
function urlSecret(text: string, hasVariable: HasVariable): string | undefined {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/i.exec(text)?.[1];
  if (password !== undefined && !hasVariable(password)) return password;
  const value = tellingParameter(text);
  return value === undefined || hasVariable(value) ? undefined : longEnough(value, 8);
}

/** The last query parameter with a secret name. */
function tellingParameter(text: string): string | undefined {
  const start = text.indexOf('://');
  const query = start < 0 ? undefined : /^[^?#]*\?([^#]*)/.exec(text.slice(start + 3))?.[1];
  const pairs = (query ?? '').split('&').map((pair) => /^([\w-]*)=(.+)$/s.exec(pair));
  return pairs.findLast((pair) => secretParameters.test(pair?.[1] ?? ''))?.[2];
}

const secretParameters = /(?:token|secret|password|api[-_]?key)$/i;

/** Placeholders for a secret, and variables of other formats. */
const standIn =
  /^<[^>]*>$|^\[[^\]]*\]$|^\*+$|^x{4,}$|^your[-_]|[-_]here$|^(?:placeholder|redacted|change[-_]?me|replace[-_]?me)$|^\$\{?\w+\}?$|^\$\{?\w+:[^}]*\}?$|^\{\w+:[^}]*\}$|^%\w+%$/i;

function longEnough(text: string, atLeast: number): string | undefined {
  return text.length >= atLeast && !/\s/.test(text) && !standIn.test(text) && !filler.test(text) ? text : undefined;
}

function upperSnake(name: string): string {
  return name
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_?(?=\d)/, '_');
}
