import { attempt, type CountedFunction, times } from './counted-function.ts';
import { configTexts, credentialTexts, pageTexts, printedTexts } from './hostile-texts.ts';
import { jsonFunctions, jsonTexts } from './json-functions.ts';
import { redactionFunctions } from './redaction-functions.ts';
import { uriFunctions, uriTexts } from './uri-functions.ts';

/** Files that put regular expressions together from texts; the functions below run all of them. */
export const composingFiles: readonly string[] = [
  'src/apps/builtin/fetch/excerpt.ts',
  'src/base/text/visible-text.ts',
  'src/vault/credential-text.ts',
  'src/vault/short-values.ts',
];

export const countedFunctions: readonly CountedFunction[] = [
  ...redactionFunctions,
  {
    name: 'findLiteralSecrets',
    load: async () => {
      const { findLiteralSecrets } = await import('../../src/config/variables/literal-secrets.ts');
      const { shellGrammar } = await import('../../src/config/variables/interpolation.ts');
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
    name: 'findSuspiciousPath and mayLeadOut',
    load: async () => {
      const { findSuspiciousPath, mayLeadOut } = await import('../../src/ledger/suspicious-path.ts');
      return (text) => [
        mayLeadOut(text),
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
      const { compactJson } = await import('../../src/ledger/records/compact-json.ts');
      return (text) => [isPrivilegedName(text), compactJson(text)];
    },
    texts: [...jsonTexts, times('aB'), times('_')],
  },
  ...jsonFunctions,
  {
    name: 'createSseReader',
    load: async () => {
      const { createSseReader } = await import('../../src/mcp/sse-reader.ts');
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
    name: 'findInDefinitions',
    load: async () => {
      const { findInDefinitions } = await import('../../src/governance/findings/index.ts');
      const { listing } = await import('../../src/governance/findings/honest-definitions.fixture.ts');
      return (text) => {
        const many = text.split(' ').map((name) => ({ name, description: 'a_tool' }));
        const servers = new Map([
          ['a', listing({ name: 'x', description: text, inputSchema: { properties: { [text]: { enum: [text] } } } })],
          ['b', listing(...many)],
        ]);
        findInDefinitions(servers, { acknowledged: new Set() });
      };
    },
    texts: [
      ...printedTexts,
      times('ignore '),
      times('\u0315\u0300'),
      times('ignore all '),
      times('do not tell '),
      times('never let a a '),
      times('read ~/'),
      times('before a '),
      times('a_b '),
      times('a'),
      times('_'),
      times('\n'),
      times('<!--'),
      times('<|a'),
      times('\u{e0041}'),
      times('👨\u200d'),
      times('\ufdfa'),
    ],
  },
  {
    name: 'splitsOfToolName and scopes',
    load: async () => {
      const { splitsOfToolName } = await import('../../src/governance/policy/tool-name.ts');
      const { grantsWriting } = await import('../../src/domain/scopes.ts');
      return (text) => [splitsOfToolName(text, new Set<string>()), grantsWriting(text)];
    },
    texts: [times('.'), times('a.'), times('__'), times(':'), times(', ')],
  },
  ...['parseJsonc', 'parseToml', 'parseRoster', 'parseDotEnv'].map((name) => parser(name)),
  {
    name: 'variables of every grammar',
    load: async () => {
      const { bareShellGrammar, shellGrammar } = await import('../../src/config/variables/interpolation.ts');
      const { createEditorGrammar, createOpencodeGrammar, filesNamedIn } = await import(
        '../../src/config/servers/client-grammars.ts'
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
      const { fittingName } = await import('../../src/config/servers/server-draft.ts');
      const { didYouMean } = await import('../../src/base/text/did-you-mean.ts');
      return (text) => [slug(text), fittingName(text), didYouMean(text, ['a']), didYouMean('abc', [text])];
    },
    texts: [times('-'), times(' -'), times('a-'), times('é'), times('a'), (n) => `a${'-'.repeat(n)}b`],
  },
  {
    name: 'edits of configuration files',
    load: async () => {
      const { putMember, removeMember } = await import('../../src/workspace-files/text/edit-text.ts');
      return (text) =>
        (['jsonc', 'toml'] as const).map((dialect) => [
          attempt(() => putMember(text, dialect, ['a', 'b'], { c: 'd' })),
          attempt(() => putMember(dialect === 'toml' ? `[a]\n${text}` : `{"a": {${text}}}`, dialect, ['a', 'b'], true)),
          attempt(() => removeMember(text, dialect, ['a'])),
        ]);
    },
    texts: [...configTexts, times('enabled ')],
  },
  {
    name: 'the last words of a child',
    load: async () => {
      const { createStderrTail, lastLines, lastStderrLine } = await import(
        '../../src/upstream/children/stderr-tail.ts'
      );
      return (text) => {
        const tail = createStderrTail(text.length + 1);
        for (let at = 0; at < text.length; at += 16) tail.push(Buffer.from(text.slice(at, at + 16)));
        return [lastLines(tail.text()), lastStderrLine(tail.text())];
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
    name: 'references to user interfaces in results',
    load: async () => {
      const { rewriteReferences } = await import('../../src/mcp/index.ts');
      return (text) => {
        const spaced = `{${text.replaceAll('X', '"_meta" : {"uri"  :  "ui://a"} ,')}"_meta":{}}`;
        const rename = (uri: string): string => uri;
        return [
          rewriteReferences(JSON.stringify({ content: text, uri: 'ui:' }), rename),
          rewriteReferences(spaced, rename),
        ];
      };
    },
    texts: [times('X'), times('   X'), times('"ui:/a":[],'), times('"_meta":{},'), (n) => `${' '.repeat(n)}X`],
  },
  {
    name: 'what the command line prints',
    load: async () => {
      const { printableLine, printable } = await import('../../src/faces/cli/terminal/printable.ts');
      const { safeJson } = await import('../../src/faces/cli/terminal/safe-json.ts');
      const { wrap } = await import('../../src/faces/cli/terminal/wrap.ts');
      return (text) => [printableLine(text), printable(text), safeJson(text), wrap(text, 40)];
    },
    texts: printedTexts,
  },
];

function parser(name: string): CountedFunction {
  return {
    name,
    load: async () => {
      const { parseJsonc } = await import('../../src/config/files/parse-jsonc.ts');
      const { parseToml } = await import('../../src/config/files/parse-toml.ts');
      const { scanToml } = await import('../../src/config/files/toml-lines.ts');
      const { parseRoster } = await import('../../src/config/agents/parse-roster.ts');
      const { parseDotEnv } = await import('../../src/config/variables/parse-dotenv.ts');
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
