import { type CountedFunction, times } from './counted-function.ts';
import { uriFunctions, uriTexts } from './uri-functions.ts';

/** Files that put regular expressions together from texts; the functions below run all of them. */
export const composingFiles: readonly string[] = [
  'src/apps/builtin/fetch/excerpt.ts',
  'src/faces/cli/printable.ts',
  'src/vault/credential-text.ts',
  'src/vault/short-values.ts',
  'src/workspace-files/set-toml-flag.ts',
];

const secret = 'hunter2-and-more';
const long = `${secret}${'k'.repeat(600)}`;
const periodic = 'ab'.repeat(300);

const credentialTexts = [
  times('-eyJ'),
  times('-eyJaaaaaaaa.bbbb'),
  times('a=b&token='),
  times('token="'),
  times("secret='x"),
  times('token\\"='),
  times('pass'),
  times('passwordpassword='),
  times('bearer '),
  (n: number) => `bearer${' '.repeat(n)}`,
  times('bearer x'),
  times('://a:b'),
  times('://@:'),
  times('-----BEGIN A PRIVATE KEY'),
  times('-----BEGIN PRIVATE KEY----------END '),
  times('cookie: "'),
  times('authorization: basic '),
  times('-ghp_'),
  times('-sk-'),
  times('qm_aaaaaaaaaaaaaa-'),
  (n: number) => `token${'\\'.repeat(n)}`,
  (n: number) => `token${' '.repeat(n)}x`,
  times(secret.slice(0, -1)),
  times(secret),
  times(long.slice(0, 500)),
  times('ab'),
  times('1234567'),
  times('pin1 '),
  times(secret.toUpperCase()),
  times(Buffer.from(secret).toString('hex').toUpperCase()),
  times(everyByteEncoded(secret)),
  times(everyByteEncoded(secret.slice(0, -1))),
  times(everyByteEncoded(everyByteEncoded(secret))),
  times(everyByteEncoded(long.slice(0, 500))),
  times('%'),
  times('%6'),
  times('%25'),
  times('%C3'),
  times('%F0%9F'),
  times('%41…'),
  times('%u006'),
  times('\\u0068'),
  times('\\u00'),
  times('\\/'),
  times('\\x61\\x62'),
  times('ab%61b'),
];

const jsonTexts = [
  times('['),
  times('{"a":'),
  times('"\\'),
  times('\\"'),
  times('"'),
  times('  \r\n'),
  times('"a" : '),
  (n: number) => `["${'\\'.repeat(n)}"]`,
  (n: number) => `[${'1,'.repeat(n / 2)}1]`,
  (n: number) => JSON.stringify({ a: Array.from({ length: n / 8 }, (_, index) => `k${index}`) }),
  (n: number) => `{${Array.from({ length: n / 12 }, (_, index) => `"token${index}":"x"`).join(',')}}`,
  (n: number) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ password: '-eyJ'.repeat(n / 4) }) }) }),
];

const configTexts = [
  ...jsonTexts,
  times('# '),
  times('//'),
  times('/*'),
  times('a: '),
  times('- '),
  times('a=\n'),
  times('a="b\n'),
  times("'''"),
  times('"""\n'),
  times('[a]\n'),
  times('a.'),
  times('${'),
  times('${A:-'),
  times('$$'),
  times('{env:'),
  times('|'),
  times('[x]('),
  times('<!--'),
  times('\n\n'),
  times(' #'),
  times('export '),
];

const pageTexts = [
  times('<'),
  times('<b>'),
  times('</b>'),
  times('<a href="'),
  times('<table><tr><td>'),
  times('<ul><li>x'),
  times('<blockquote><p>x'),
  times('<pre>\n'),
  times('&amp'),
  times('<!--'),
  times('<![CDATA['),
  (n: number) => '<b>'.repeat(n / 8) + '<p>x</p>'.repeat(n / 12),
  (n: number) => `<pre>${'\n'.repeat(n)}x</pre>`,
];

const printedTexts = [times('\u001b['), times('\u202e'), times(' '), times('\r\n'), times('a '), times('\u001b]x')];

export const countedFunctions: readonly CountedFunction[] = [
  {
    name: 'redactor.message',
    load: async () => (await redactor()).message,
    texts: [...credentialTexts, ...jsonTexts],
  },
  {
    name: 'redactor.json',
    load: async () => {
      const { json } = await redactor();
      return (text) => [json(text), json(JSON.stringify({ a: text }))];
    },
    texts: [...credentialTexts, ...jsonTexts],
  },
  {
    name: 'redactor.message of a text that is cut',
    load: async () => {
      const { message } = await redactor();
      return (text) => message(text, 100);
    },
    texts: credentialTexts,
  },
  {
    name: 'findLiteralSecrets',
    load: async () => {
      const { findLiteralSecrets } = await import('../../src/config/literal-secrets.ts');
      const { shellGrammar } = await import('../../src/config/interpolation.ts');
      const at = (text: string) => ({ text, line: 1, field: 'x' });
      return (text) => {
        findLiteralSecrets(
          's',
          { type: 'stdio', command: at('c'), args: [at(text)], env: [['A_TOKEN', at(text)]] } as never,
          shellGrammar,
        );
        findLiteralSecrets(
          's',
          { type: 'http', url: at(`https://h/?${text}`), headers: [['Authorization', at(text)]] } as never,
          shellGrammar,
        );
      };
    },
    texts: [...credentialTexts, times('://?'), times('&a=b'), times('://'), times('<'), times('${')],
  },
  {
    name: 'findSuspiciousPath',
    load: async () => {
      const { findSuspiciousPath } = await import('../../src/ledger/suspicious-path.ts');
      return (text) => [
        findSuspiciousPath({ a: text, [text]: 1 }, ['/w']),
        findSuspiciousPath(text.split('a'), ['/w']),
      ];
    },
    texts: [...uriTexts, times('..'), times(' ..'), times('a'), times('$HOME')],
  },
  {
    name: 'isPrivilegedName and compactJson',
    load: async () => {
      const { isPrivilegedName } = await import('../../src/ledger/privileged-name.ts');
      const { compactJson } = await import('../../src/ledger/compact-json.ts');
      return (text) => [isPrivilegedName(text), compactJson(text)];
    },
    texts: [...jsonTexts, times('aB'), times('_')],
  },
  {
    name: 'readBody and readUpstreamMessage',
    load: async () => {
      const { readBody } = await import('../../src/mcp/message.ts');
      const { readUpstreamMessage } = await import('../../src/mcp/upstream-message.ts');
      return (text) => [attempt(() => readBody(text)), attempt(() => readUpstreamMessage(text))];
    },
    texts: [
      ...jsonTexts,
      (n) => `{"jsonrpc":"2.0","id":1,"result":{"a":"${'\\u0041'.repeat(n / 6)}"}}`,
      (n) => `{${'"a":1,'.repeat(n / 6)}"b":1}`,
    ],
  },
  {
    name: 'createSseReader',
    load: async () => {
      const { createSseReader } = await import('../../src/mcp/sse.ts');
      return (text) => {
        const reader = createSseReader(() => {}, 1 << 24);
        for (let at = 0; at < text.length; at += 16) reader.push(Buffer.from(text.slice(at, at + 16)));
        createSseReader(() => {}, 1 << 24).push(Buffer.from(text));
      };
    },
    texts: [times('\r'), times('\n'), times('\r\n'), times('data:x\n'), times('data: x'), times(':'), times('id:\r')],
  },
  ...uriFunctions,
  {
    name: 'splitToolName and scopes',
    load: async () => {
      const { splitToolName } = await import('../../src/governance/policy/tool-name.ts');
      const { grantsWriting } = await import('../../src/governance/policy/scopes.ts');
      return (text) => [splitToolName(text, new Set<string>()), grantsWriting(text)];
    },
    texts: [times('.'), times('a.'), times('__'), times(':'), times(', ')],
  },
  ...['parseJsonc', 'parseToml', 'parseRoster', 'parseDotEnv'].map((name) => parser(name)),
  {
    name: 'variables of every grammar',
    load: async () => {
      const { bareShellGrammar, shellGrammar } = await import('../../src/config/interpolation.ts');
      const { createEditorGrammar, createOpencodeGrammar, filesNamedIn } = await import(
        '../../src/config/client-grammars.ts'
      );
      const all = [shellGrammar, bareShellGrammar, createEditorGrammar(), createOpencodeGrammar()];
      return (text) => [...all.map((grammar) => grammar(text)), filesNamedIn(text)];
    },
    texts: configTexts,
  },
  {
    name: 'slug, fittingName and didYouMean',
    load: async () => {
      const { slug } = await import('../../src/config/slug.ts');
      const { fittingName } = await import('../../src/config/server-draft.ts');
      const { didYouMean } = await import('../../src/config/did-you-mean.ts');
      return (text) => [slug(text), fittingName(text), didYouMean(text, ['a']), didYouMean('abc', [text])];
    },
    texts: [times('-'), times(' -'), times('a-'), times('é'), times('a'), (n) => `a${'-'.repeat(n)}b`],
  },
  {
    name: 'edits of configuration files',
    load: async () => {
      const { blankComments } = await import('../../src/workspace-files/blank-comments.ts');
      const { setTomlFlag } = await import('../../src/workspace-files/set-toml-flag.ts');
      return (text) => [blankComments(text), attempt(() => setTomlFlag(`[a]\n${text}`, 1, 'enabled', true))];
    },
    texts: [...configTexts, times('enabled ')],
  },
  {
    name: 'the last words of a child',
    load: async () => {
      const { createStderrTail, lastLines, lastWords } = await import('../../src/upstream/children/stderr-tail.ts');
      return (text) => {
        const tail = createStderrTail(text.length + 1);
        for (let at = 0; at < text.length; at += 16) tail.push(Buffer.from(text.slice(at, at + 16)));
        return [lastLines(tail.text()), lastWords(tail.text())];
      };
    },
    texts: [times('\n'), times(' \n'), times('x'), times('1'), times('npm error '), times('\t')],
  },
  {
    name: 'pages of fetch',
    load: async () => {
      const { createElementReader } = await import('../../src/apps/builtin/fetch/elements.ts');
      const { createPageWriter } = await import('../../src/apps/builtin/fetch/page-writer.ts');
      const { createBoundedText } = await import('../../src/apps/builtin/fetch/bounded-text.ts');
      const { cleanText } = await import('../../src/apps/builtin/fetch/excerpt.ts');
      const { readMedia, shapeOf, createDecoder, guessShape } = await import('../../src/apps/builtin/fetch/media.ts');
      const { Tokenizer } = await import('htmlparser2');
      return (text) => {
        const output = createBoundedText(1 << 24);
        const page = createPageWriter(output, { style: 'markdown', base: new URL('http://h/'), fence: '~~~~' });
        const tokenizer = new Tokenizer({}, createElementReader(text, page));
        tokenizer.write(text);
        tokenizer.end();
        const media = readMedia(text);
        return [
          output.all(),
          cleanText(text),
          shapeOf(media),
          createDecoder(Buffer.from(text), media),
          guessShape(Buffer.from(text)),
        ];
      };
    },
    texts: [...pageTexts, ...printedTexts, times('text/'), times('+json'), times(';charset=')],
  },
  {
    name: 'answers of git and PostgreSQL',
    load: async () => {
      const { parseConfigList, ownConfig } = await import('../../src/apps/builtin/git/local-config.ts');
      const { shownName } = await import('../../src/apps/builtin/git/text.ts');
      const { parseExactly } = await import('../../src/apps/builtin/pg-readonly/exact-json.ts');
      const { readTableName } = await import('../../src/apps/builtin/pg-readonly/identifiers.ts');
      return (text) => [
        ownConfig(parseConfigList(text), { bare: false }),
        shownName(text),
        attempt(() => parseExactly(text)),
        attempt(() => readTableName(text)),
      ];
    },
    texts: [
      ...jsonTexts,
      times('\0'),
      times('branch.'),
      times('remote.a.fetch\0'),
      times('"a".'),
      times('""'),
      times('1e'),
      times('0'),
    ],
  },
  {
    name: 'what the command line prints',
    load: async () => {
      const { oneLine, printable } = await import('../../src/faces/cli/printable.ts');
      const { safeJson } = await import('../../src/faces/cli/safe-json.ts');
      const { wrap } = await import('../../src/faces/cli/wrap.ts');
      return (text) => [oneLine(text), printable(text), safeJson(text), wrap(text, 40)];
    },
    texts: printedTexts,
  },
];

function parser(name: string): CountedFunction {
  return {
    name,
    load: async () => {
      const { parseJsonc } = await import('../../src/config/parse-jsonc.ts');
      const { parseToml } = await import('../../src/config/parse-toml.ts');
      const { scanToml } = await import('../../src/config/toml-lines.ts');
      const { parseRoster } = await import('../../src/config/parse-roster.ts');
      const { parseDotEnv } = await import('../../src/config/parse-dotenv.ts');
      const toml = (text: string): unknown => [parseToml(text), attempt(() => scanToml(text))];
      const parsers: Record<string, (text: string) => unknown> = {
        parseJsonc,
        parseToml: toml,
        parseRoster,
        parseDotEnv,
      };
      return (text) => [parsers[name]?.(text), parsers[name]?.(`# Members\n${text}`)];
    },
    texts: configTexts,
  };
}

async function redactor(): Promise<{ json(text: string): string; message(text: string, most?: number): string }> {
  const { createRedactor } = await import('../../src/vault/index.ts');
  return createRedactor([secret, long, periodic, '1234567'], ['pin1', '1']);
}

/** What is refused was read all the same. */
function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && error.constructor.name === 'TooMuchWork') throw error;
    return undefined;
  }
}

function everyByteEncoded(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '%$&');
}
