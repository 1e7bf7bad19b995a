import type { Crew } from './crew.ts';

/** What goes between client sessions and the connections that are theirs alone, beside calls. */
export interface ClientNotices {
  /** What servers say to that session; the listener is forgotten with the session's end. */
  hear(session: string, listener: NoticeListener): void;
  /** Something that all servers of the session should know. */
  tell(session: string, method: string): void;
  /** The client is gone: its connections are closed. */
  end(session: string): void;
}

export type NoticeListener = (method: string, params: Readonly<Record<string, unknown>>) => void;

/** `listeners` are those that the crew's servers speak to. */
export function createClientNotices(crew: Crew, listeners: Map<string, NoticeListener>): ClientNotices {
  return {
    hear: (session, listener) => listeners.set(session, listener),
    tell(session, method) {
      for (const { dispatch } of crew.upstreams.values()) dispatch.seats?.tell(session, method);
    },
    end(session) {
      listeners.delete(session);
      for (const { dispatch } of crew.upstreams.values()) dispatch.seats?.endSession(session);
    },
  };
}
