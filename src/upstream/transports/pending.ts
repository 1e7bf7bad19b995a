import type { HubError } from '../../base/index.ts';
import type { Deadlines, Patience, Timed } from '../deadlines.ts';
import type { WireCall, WireReply, WireRequest } from '../wire.ts';

/** One request whose answer comes by its id, among others, over a shared stream. */
export class Pending implements WireCall, Timed {
  readonly id: number;
  readonly request: WireRequest;
  readonly reply: Promise<WireReply>;
  readonly patience: Patience;
  settle: (reply: WireReply) => void = () => {};
  readonly #giveUp: GiveUp;

  constructor(id: number, request: WireRequest, deadlines: Deadlines, giveUp: GiveUp) {
    this.id = id;
    this.request = request;
    this.#giveUp = giveUp;
    this.patience = deadlines.start(this, request.timeoutMs, request.maxMs);
    this.reply = new Promise((settle) => {
      this.settle = settle;
    });
  }

  cancel(error: HubError): void {
    this.#giveUp(this, error);
  }

  timeOut(limitMs: number): void {
    this.#giveUp(this, limitMs);
  }
}

/** The limit that was reached, or the error of whoever cancelled. */
export type GiveUp = (pending: Pending, why: number | HubError) => void;
