import type { Linked, LinkedList } from '../../base/index.ts';

/** A request that is not answered yet, with the id by which its client may cancel it. */
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

/** The later request if a client used an id twice; undefined for anything but an id. */
export function findRequest<Work>(open: LinkedList<OpenRequest<Work>>, id: unknown): OpenRequest<Work> | undefined {
  return open.find((request) => request.id === id);
}
