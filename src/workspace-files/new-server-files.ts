/** A file of a new server, by its path inside the server's folder. */
export interface NewServerFile {
  readonly file: string;
  readonly text: string;
}

/** A tool of the new server with arguments, suggested as the first call. */
export const firstCall = { tool: 'convert', args: 'amount=5 from=km to=mile' } as const;

/** A working, tested server on the official SDK. `folder` is its place in the workspace. */
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
    // Replacer functions, because a dollar sign in a folder name is literal.
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
 * The MCP server {{name}}. A client starts it and talks to it over stdin and stdout, with any protocol version.
 * Only MCP messages may go to stdout; write logs with console.error.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** The quantity that each unit measures, and its size in metres or kilograms. */
const units = {
  m: { measures: 'length', size: 1 },
  km: { measures: 'length', size: 1000 },
  mile: { measures: 'length', size: 1609.344 },
  kg: { measures: 'mass', size: 1 },
  pound: { measures: 'mass', size: 0.45359237 },
};

const unit = z.enum(['m', 'km', 'mile', 'kg', 'pound']);

/** Both tools depend only on their arguments. */
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** Creates the server for one connection. */
function createServer() {
  const server = new McpServer({ name: '{{name}}', version: '0.1.0' });

  server.registerTool(
    'convert',
    {
      title: 'Convert a measure',
      description: 'Converts a length or a mass from one unit to another.',
      inputSchema: z.object({
        amount: z.number().describe('The amount in the first unit'),
        from: unit.describe('The unit to convert from'),
        to: unit.describe('The unit to convert to'),
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
      // The text is for clients that do not support structured content.
      return { ...answer(JSON.stringify(counts)), structuredContent: counts };
    },
  );

  return server;
}

/**
 * @param {string} text The text for the model
 * @returns {import('@modelcontextprotocol/server').CallToolResult}
 */
function answer(text) {
  return { content: [{ type: 'text', text }] };
}

/**
 * A tool error. The model reads it and can try again, so say what to do.
 *
 * @param {string} text
 * @returns {import('@modelcontextprotocol/server').CallToolResult}
 */
function failure(text) {
  return { ...answer(text), isError: true };
}

serveStdio(createServer);
`;

const testText = `/** Tests the server through a client, with a legacy and a modern protocol version. */
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

    test('lists the tools, each with a description and a schema', async () => {
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

    test('gets results', async () => {
      assert.equal((await call('convert', { amount: 2, from: 'km', to: 'm' })).text, '2000 m');
      const { structuredContent } = await call('count_words', { text: 'three little words' });
      assert.deepEqual(structuredContent, { words: 3, characters: 18 });
    });

    test('gets an error that says what to do', async () => {
      const { text, isError } = await call('convert', { amount: 1, from: 'km', to: 'kg' });
      assert.equal(isError, true);
      assert.match(text, /Choose two of the same kind/);
    });

    test('gets an error for invalid arguments', async () => {
      const { text, isError } = await call('convert', { amount: 'much', from: 'km', to: 'm' });
      assert.equal(isError, true);
      assert.match(text, /amount/);
    });
  });
}
`;

const readmeText = `# {{name}}

An MCP server for this workspace, in plain JavaScript on the official SDK. It supports legacy and modern protocol versions.
\`quartermaster.yaml\` configures it as \`{{name}}\`. Run \`qm\` commands in the workspace folder and all others in this one.

## Run and test

\`\`\`sh
npm install
npm test
\`\`\`

You do not start the server yourself. The hub starts it for its agents, \`qm inspect {{name}}\` starts it to show its
capabilities, and any MCP client can start it with \`node {{folder}}/server.mjs\`. \`npm start\` waits for messages on stdin.

## Add a tool

Each \`registerTool\` call in \`server.mjs\` defines one tool: its name, a description that helps the model choose it, a schema
for its arguments, hints (\`readOnlyHint\`, \`destructiveHint\`), and the function that runs it. Test its results and errors in
\`server.test.mjs\`. Then:

\`\`\`sh
npm test
qm doctor {{name}}
\`\`\`

A running hub keeps the process it has started. To restart it, run \`qm disable {{name}}\` and \`qm enable {{name}}\`.

## Give it to an agent

If no agent has a list of servers, every agent can use it. Otherwise add it to an agent in \`quartermaster.yaml\`:

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
