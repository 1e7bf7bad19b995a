/**
 * A model that follows a script, on loopback, in the four dialects that the agents speak. For each turn the script gets
 * the tools that the agent offers and the results of the calls so far, and says what to do next:
 *
 *   script({ tools: [{ name, … }], results: [text] }) → { call: { tool, args } } | { say: text }, or a promise of it
 *
 * A request without tools is none of the script's: agents ask for titles and summaries beside the conversation.
 */
import { createServer } from 'node:http';
import { anthropicMessages } from './anthropic-messages.mjs';
import { geminiContent } from './gemini-content.mjs';
import { openaiChat } from './openai-chat.mjs';
import { openaiResponses } from './openai-responses.mjs';

const dialects = [anthropicMessages, openaiChat, openaiResponses, geminiContent];

export async function startModel(script) {
  const turns = [];
  const others = [];
  const started = performance.now();
  const http = createServer((req, res) => {
    respond(req, res).catch((error) => {
      others.push(`${req.method} ${req.url}: ${error.message}`);
      res.destroy();
    });
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));

  async function respond(req, res) {
    const path = new URL(req.url, 'http://model').pathname;
    const text = await readText(req);
    const dialect = dialects.find((each) => each.matches(path));
    if (req.method !== 'POST' || dialect === undefined) {
      others.push(`${req.method} ${path}`);
      send(res, path.endsWith('/models') ? { json: { object: 'list', data: [] } } : { json: {} });
      return;
    }
    const body = JSON.parse(text);
    const asked = dialect.read(body);
    const reply = asked.tools.length === 0 ? { say: 'A test' } : await takeTurn(asked);
    if (!res.destroyed) send(res, dialect.write(reply, { body, path, id: turns.length }));
  }

  async function takeTurn(asked) {
    const turn = { atMs: performance.now() - started, tools: asked.tools.map(({ name }) => name) };
    turns.push({ ...turn, results: asked.results });
    return script(asked);
  }

  return {
    url: `http://127.0.0.1:${http.address().port}`,
    /** What the agent offered at each turn, when, and which results it had by then. */
    turns,
    /** Requests that no dialect knows. */
    others,
    close() {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(resolve));
    },
  };
}

/** The offered tool whose name contains these words, whatever prefix and separator the agent gave it. */
export function findTool(tools, wanted) {
  return tools.find(({ name }) => name.replaceAll('-', '_').includes(wanted));
}

async function readText(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function send(res, { json, events }) {
  if (json !== undefined) {
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const { event, data } of events) {
    if (event !== undefined) res.write(`event: ${event}\n`);
    res.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  res.end();
}
