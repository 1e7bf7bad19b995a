import { HubError, isJsonObject } from '../../base/index.ts';
import { errorReply, type Message, metaKeys, notification } from '../../mcp/index.ts';
import type { LineHead } from './hub-lines.ts';

/** A request that the hub has not answered. */
interface OpenRequest {
  readonly idText: string;
  /** The other requests of its batch. */
  readonly batch: readonly string[];
  /** Its text, if another hub may get it again: it acts on no server. */
  readonly text: string | undefined;
  /** The lists whose changes it asked for. */
  readonly listens: readonly string[];
}

type Request = Message & { readonly kind: 'request' };

const maxOpen = 10_000;
const maxUris = 1000;
/** All texts together. */
const maxTextBytes = 4 * 1024 * 1024;

const harmless: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'logging/setLevel',
]);

const changeMethods = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
} as const;

/** What another hub must be told about a client when the first one is lost. Bounded, whatever the client sends. */
export class ClientMemory {
  readonly #open = new Map<string, OpenRequest>();
  /** Requests of the hub that the client has not answered. */
  readonly #asked = new Set<string>();
  readonly #uris = new Set<string>();
  #textBytes = 0;
  #openCalls = 0;
  #initialize: string | undefined;
  #initialized = false;
  #level: unknown;

  get open(): number {
    return this.#open.size;
  }

  /** Open requests that another hub must not get again. */
  get openCalls(): number {
    return this.#openCalls;
  }

  /** Notes a message of the client before it is passed on. Undefined if it must not be. */
  sent(messages: readonly Message[], text: string): HubError | undefined {
    const requests = messages.filter((message) => message.kind === 'request');
    if (this.#open.size + requests.length > maxOpen) {
      return new HubError('OVERLOADED', `This client has ${this.#open.size} open requests.`);
    }
    const batch = requests.map(({ idText }) => idText);
    for (const message of messages) {
      if (message.kind === 'request') this.#request(message, batch, messages.length === 1 ? text : undefined);
      else if (message.kind === 'response') this.#asked.delete(JSON.stringify(message.id));
      else if (message.kind === 'notification') this.#notified(message.method, message.params);
    }
    return undefined;
  }

  /** Notes an answer or a request of the hub. */
  received({ idText, next, batch }: LineHead): void {
    if (next === 'method') {
      if (this.#asked.size < maxOpen) this.#asked.add(idText);
      return;
    }
    for (const each of batch ? (this.#open.get(idText)?.batch ?? []) : [idText]) this.#forget(each);
  }

  /** The hub is gone: what the client is told. What may be sent again stays open. */
  lost(): string[] {
    const lines = [...this.#asked].map(
      (idText) =>
        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${idText},"reason":"the hub was lost"}}`,
    );
    this.#asked.clear();
    for (const { idText, batch, text } of [...this.#open.values()]) {
      if (text !== undefined || !this.#open.has(idText)) continue;
      const answers = (batch.length === 0 ? [idText] : batch).map((each) => errorReply(each, hubLost()));
      lines.push(batch.length === 0 ? (answers[0] ?? '') : `[${answers.join(',')}]`);
      for (const each of [idText, ...batch]) this.#forget(each);
    }
    return lines;
  }

  /** What a new hub is sent first; `newId` makes ids whose answers the client does not see. */
  replay(newId: () => string): string[] {
    const lines: string[] = [];
    const say = (method: string, paramsText: string): void =>
      void lines.push(`{"jsonrpc":"2.0","id":${newId()},"method":"${method}","params":${paramsText}}`);
    if (this.#initialized && this.#initialize !== undefined) {
      say('initialize', this.#initialize);
      lines.push(notification('notifications/initialized'));
    }
    if (this.#level !== undefined) say('logging/setLevel', JSON.stringify({ level: this.#level }));
    for (const uri of this.#uris) say('resources/subscribe', JSON.stringify({ uri }));
    for (const { text } of this.#open.values()) if (text !== undefined) lines.push(text);
    return lines;
  }

  /** Lists may have changed meanwhile: what the client is told once it has a hub again. */
  announcements(): string[] {
    const legacy = this.#initialized ? Object.values(changeMethods).map((method) => notification(method)) : [];
    const modern = [...this.#open.values()].flatMap(({ idText, listens }) =>
      listens.map(
        (method) =>
          `{"jsonrpc":"2.0","method":"${method}","params":{"_meta":{"${metaKeys.subscriptionId}":${idText}}}}`,
      ),
    );
    return [...legacy, ...modern];
  }

  #request({ idText, method, params }: Request, batch: readonly string[], text: string | undefined): void {
    this.#forget(idText);
    const isKept = text !== undefined && harmless.has(method) && this.#textBytes + text.length <= maxTextBytes;
    if (isKept) this.#textBytes += text.length;
    else this.#openCalls += 1;
    this.#open.set(idText, {
      idText,
      batch: text === undefined ? batch : [],
      text: isKept ? text : undefined,
      listens: isKept && method === 'subscriptions/listen' ? listensOf(params.notifications) : [],
    });
    if (method === 'initialize') {
      const paramsText = JSON.stringify(params);
      this.#initialize = paramsText.length <= maxTextBytes ? paramsText : undefined;
      this.#uris.clear();
      this.#level = undefined;
    } else if (method === 'logging/setLevel' && typeof params.level === 'string')
      this.#level = params.level.slice(0, 50);
    else if (method === 'resources/unsubscribe') this.#uris.delete(String(params.uri));
    else if (method === 'resources/subscribe') this.#subscribed(params.uri);
  }

  #subscribed(uri: unknown): void {
    if (typeof uri === 'string' && uri.length <= maxTextBytes / maxUris && this.#uris.size < maxUris)
      this.#uris.add(uri);
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/initialized') this.#initialized = true;
    // A cancelled request gets no answer.
    if (method === 'notifications/cancelled') this.#forget(JSON.stringify(params.requestId));
  }

  #forget(idText: string): void {
    const request = this.#open.get(idText);
    if (request === undefined) return;
    this.#open.delete(idText);
    if (request.text === undefined) this.#openCalls -= 1;
    else this.#textBytes -= request.text.length;
  }
}

function listensOf(wanted: unknown): string[] {
  if (!isJsonObject(wanted)) return [];
  return Object.entries(changeMethods).flatMap(([member, method]) => (wanted[member] === true ? [method] : []));
}

function hubLost(): HubError {
  return new HubError('HUB_LOST', 'The hub was lost; the call may have run.', {
    hint: 'Look at its effect or at `qm calls` before you repeat it.',
  });
}
