import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { LookupFunction } from 'node:net';
import { type EgressGuard, EgressRefusal } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import type { Semaphore } from '../semaphore.ts';
import type { Dial } from './dial.ts';
import { explainFetchFailure } from './fetch-failures.ts';
import { guessShape, type Media, readMedia, type Shape, shapeOf } from './media.ts';
import { acceptedEncodings, readResponseBody } from './read-body.ts';

/** The response after all redirects. */
export interface FetchedPage {
  readonly url: URL;
  readonly redirects: number;
  readonly status: number;
  readonly media: Media;
  readonly shape: Shape;
  /** Empty for binary content, which is not shown. */
  readonly body: Buffer;
  /** If the body was not read, as declared by the server. */
  readonly size: number | undefined;
}

export interface GetDeps {
  readonly guard: EgressGuard;
  readonly dial: Dial;
  /** A name whose DNS servers do not answer takes long to look up, possibly longer than its caller waits. */
  readonly lookups: Semaphore;
}

export interface GetOptions {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly userAgent: string;
}

/** Gets a page without cookies, credentials or a proxy. Leaves no connection open, whatever the outcome. */
export async function getPage(
  deps: GetDeps,
  options: GetOptions,
  first: URL,
  signal: AbortSignal,
): Promise<FetchedPage> {
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const answer = await getOnce(deps, options, url, signal);
    if (!(answer instanceof URL)) return { ...answer, url, redirects };
    if (redirects === options.maxRedirects) {
      throw new ToolFault(`${first.href} is not fetched: it redirects more than ${redirects} times (--max-redirects).`);
    }
    // On plain http, anyone on the network path could rewrite the page.
    if (url.protocol === 'https:' && answer.protocol === 'http:') {
      throw new ToolFault(
        `${url.href} redirects from https to ${answer.href}, which is not followed. Fetch that URL directly if you need it.`,
      );
    }
    url = answer;
  }
}

type Answer = Omit<FetchedPage, 'url' | 'redirects'>;

/** The page itself, or the URL it redirects to. */
async function getOnce(deps: GetDeps, options: GetOptions, url: URL, signal: AbortSignal): Promise<Answer | URL> {
  let response: IncomingMessage | undefined;
  try {
    const lookup = deps.guard.admit(url);
    if (lookup instanceof EgressRefusal) throw lookup;
    const inTurn = takingTurns(lookup, deps.lookups, signal);
    response = await send(deps.dial, options.userAgent, url, inTurn, signal);
    return redirectOf(url, response) ?? (await readAnswer(response, url, options.maxBytes));
  } catch (error) {
    // An abort breaks the connection, so report its reason instead of the resulting error.
    throw signal.aborted ? signal.reason : explainFetchFailure(url, error);
  } finally {
    response?.destroy();
  }
}

function takingTurns(lookup: LookupFunction, turns: Semaphore, signal: AbortSignal): LookupFunction {
  return (name, options, done) => {
    turns.take(signal).then(
      (endTurn) =>
        lookup(name, options, (...found) => {
          endTurn();
          done(...found);
        }),
      (reason: Error) => done(reason, ''),
    );
  };
}

function send(
  dial: Dial,
  userAgent: string,
  url: URL,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const headers = { host: url.host, 'user-agent': userAgent, accept, 'accept-encoding': acceptedEncodings };
  return new Promise((resolve, reject) => {
    const request = sendRequest({
      path: `${url.pathname}${url.search}`,
      headers,
      signal,
      maxHeaderSize: 32 * 1024,
      createConnection: () => dial({ secure, host, port, lookup }),
    });
    request.once('response', resolve);
    // Stays attached: an error after the response has begun also reaches its reader.
    request.on('error', reject);
    request.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new ToolFault(`${url.href} cannot be fetched: the server requested another protocol.`));
    });
    request.end();
  });
}

const accept = 'text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.5';

function redirectOf(url: URL, { statusCode = 0, headers }: IncomingMessage): URL | undefined {
  if (headers.location === undefined || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  // Node.js reads headers as Latin-1, but servers that send non-ASCII characters send UTF-8.
  const location = Buffer.from(headers.location, 'latin1').toString();
  if (URL.canParse(location, url.href)) return new URL(location, url);
  throw new ToolFault(`${url.href} cannot be fetched: it redirects to an invalid URL.`);
}

async function readAnswer(response: IncomingMessage, url: URL, maxBytes: number): Promise<Answer> {
  const status = response.statusCode ?? 0;
  const media = readMedia(response.headers['content-type']);
  const shape = shapeOf(media);
  if (shape === 'binary') {
    const length = response.headers['content-length'];
    return { status, media, shape, body: Buffer.alloc(0), size: length === undefined ? undefined : Number(length) };
  }
  const body = await readResponseBody(response, url, maxBytes);
  return { status, media, shape: shape ?? guessShape(body), body, size: body.length };
}
