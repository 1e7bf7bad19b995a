import type { Linked, LinkedList } from '../../base/index.ts';

/** A request that has no answer yet, by the id that its client gave it and may cancel it by. */
export class OpenRequest<Work> implements Linked<OpenRequest<Work>> {
  readonly id: string | number;
  readonly work: Work;
  list: LinkedList<OpenRequest<Work>> | undefined;
  before: OpenRequest<Work> | undefined;
  after: OpenRequest<Work> | undefined;

  constructor(id: string | number, work: Work) {
    this.id = id;
    this.work = work;
  }
}

/** Of an id that was used twice the later request is meant; anything but an id means none. */
export function findRequest<Work>(open: LinkedList<OpenRequest<Work>>, id: unknown): OpenRequest<Work> | undefined {
  return open.find((request) => request.id === id);
}
