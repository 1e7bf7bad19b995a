/** One file of a new server, by its path inside the server's folder. */
export interface NewServerFile {
  readonly file: string;
  readonly text: string;
}

/** A tool of the new server, and arguments for it: what to try first. */
export const firstCall = { tool: 'convert', args: 'amount=5 from=km to=mile' } as const;

/** A server on the official SDK that works and is tested as it is. `folder` is where it will lie in the workspace. */
export function newServerFiles(name: string, folder: string): readonly NewServerFile[] {
  const texts = {
    'package.json': `${JSON.stringify(packageOf(name), undefined, 2)}\n`,
    'server.mjs': serverText,
    'server.test.mjs': testText,
    'README.md': readmeText,
    '.gitignore': 'node_modules/\n',
  };
  return Object.entries(texts).map(([file, text]) => ({
    file,
    // Functions, since a dollar sign in a folder's name means nothing here.
    text: text.replaceAll('{{name}}', () => name).replaceAll('{{folder}}', () => folder),
  }));
}

function packageOf(name: string): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20' },
    scripts: { start: 'node server.mjs', test: 'node --test server.test.mjs' },
    dependencies: { '@modelcontextprotocol/server': '2.4.0', zod: '4.6.7' },
    devDependencies: { '@modelcontextprotocol/client': '2.4.0' },
  };
}

const serverText = `/**
 * The MCP server {{name}}. A client starts it and talks to it over stdin and stdout, in either era of the protocol.
 * Standard output belongs to the protocol; write remarks with console.error.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** What each unit measures, and how many metres or kilograms it is. */
const units = {
  m: { measures: 'length', size: 1 },
  km: { measures: 'length', size: 1000 },
  mile: { measures: 'length', size: 1609.344 },
  kg: { measures: 'mass', size: 1 },
  pound: { measures: 'mass', size: 0.45359237 },
};

const unit = z.enum(['m', 'km', 'mile', 'kg', 'pound']);

/** Both tools look at nothing but their arguments; clients may go by that. */
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** A server for one connection. */
function createServer() {
  const server = new McpServer({ name: '{{name}}', version: '0.1.0' });

  server.registerTool(
    'convert',
    {
      title: 'Convert a measure',
      description: 'Converts a length or a mass from one unit to another.',
      inputSchema: z.object({
        amount: z.number().describe('How much there is of the first unit'),
        from: unit.describe('The unit that it is in'),
        to: unit.describe('The unit that is wanted'),
      }),
      annotations,
    },
    ({ amount, from, to }) => {
      if (units[from].measures !== units[to].measures) {
        return failure(\`\${from} is a unit of \${units[from].measures} and \${to} is not. Choose two of the same kind.\`);
      }
      return answer(\`\${(amount * units[from].size) / units[to].size} \${to}\`);
    },
  );

  server.registerTool(
    'count_words',
    {
      title: 'Count words',
      description: 'Counts the words and characters of a text.',
      inputSchema: z.object({ text: z.string().describe('The text') }),
      outputSchema: z.object({ words: z.int(), characters: z.int() }),
      annotations,
    },
    ({ text }) => {
      const counts = { words: text.split(/\\s+/).filter(Boolean).length, characters: text.length };
      // Clients that know no structured content read the text.
      return { ...answer(JSON.stringify(counts)), structuredContent: counts };
    },
  );

  return server;
}

/**
 * @param {string} text What the model reads
 * @returns {import('@modelcontextprotocol/server').CallToolResult}
 */
function answer(text) {
  return { content: [{ type: 'text', text }] };
}

/**
 * An error of the tool: the model reads it and can try again, so it says what to do.
 *
 * @param {string} text
 * @returns {import('@modelcontextprotocol/server').CallToolResult}
 */
function failure(text) {
  return { ...answer(text), isError: true };
}

serveStdio(createServer);
`;

const testText = `/** The server as its clients see it, in both eras of the protocol. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const server = fileURLToPath(new URL('server.mjs', import.meta.url));

for (const mode of /** @type {const} */ (['legacy', { pin: '2026-07-28' }])) {
  describe(mode === 'legacy' ? 'a client of 2025' : 'a client of 2026', () => {
    const client = new Client({ name: 'test', version: '0.1.0' }, { versionNegotiation: { mode } });

    before(() => client.connect(new StdioClientTransport({ command: process.execPath, args: [server] })));
    after(() => client.close());

    /**
     * @param {string} name
     * @param {Record<string, unknown>} args
     */
    async function call(name, args) {
      const { content, isError, structuredContent } = await client.callTool({ name, arguments: args });
      const [first] = content;
      return { text: first?.type === 'text' ? first.text : '', isError: isError === true, structuredContent };
    }

    test('finds the tools, each with a description and a schema', async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['convert', 'count_words'],
      );
      for (const { name, description, inputSchema, annotations } of tools) {
        assert.ok(description, name);
        assert.equal(inputSchema.type, 'object');
        assert.equal(annotations?.readOnlyHint, true);
      }
    });

    test('gets answers', async () => {
      assert.equal((await call('convert', { amount: 2, from: 'km', to: 'm' })).text, '2000 m');
      const { structuredContent } = await call('count_words', { text: 'three little words' });
      assert.deepEqual(structuredContent, { words: 3, characters: 18 });
    });

    test('is told what is wrong, and what to do', async () => {
      const { text, isError } = await call('convert', { amount: 1, from: 'km', to: 'kg' });
      assert.equal(isError, true);
      assert.match(text, /Choose two of the same kind/);
    });

    test('is told about arguments that do not fit', async () => {
      const { text, isError } = await call('convert', { amount: 'much', from: 'km', to: 'm' });
      assert.equal(isError, true);
      assert.match(text, /amount/);
    });
  });
}
`;

const readmeText = `# {{name}}

An MCP server of this workspace: plain JavaScript on the official SDK, for clients of both eras of the protocol.
\`quartermaster.yaml\` has it as \`{{name}}\`. Commands with \`qm\` are for the workspace's own folder, the others for this one.

## Run and test

\`\`\`sh
npm install
npm test
\`\`\`

Whoever uses it starts it: the hub for its agents, \`qm inspect {{name}}\` to show what it offers, or any MCP client with
\`node {{folder}}/server.mjs\`. By hand, \`npm start\` waits for messages on stdin.

## Add a tool

Each \`registerTool\` in \`server.mjs\` is one: a name, a description by which a model chooses it, a schema of its
arguments, hints about what it does (\`readOnlyHint\`, \`destructiveHint\`), and the function that answers. Say in
\`server.test.mjs\` what it answers and what it refuses. Then:

\`\`\`sh
npm test
qm doctor {{name}}
\`\`\`

A hub that runs keeps the program it has started; \`qm disable {{name}}\` and \`qm enable {{name}}\` start the new one.

## Give it to an agent

Where no agent has a list of servers, all have it. Else name it in \`quartermaster.yaml\`:

\`\`\`yaml
agents:
  reviewer:
    servers: [{{name}}]
    policies:
      tools:
        {{name}}.count_words: require-approval
\`\`\`

\`\`\`sh
qm tools --agent reviewer
qm call {{name}}.${firstCall.tool} ${firstCall.args} --agent reviewer
\`\`\`
`;
