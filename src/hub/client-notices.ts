import type { Caller } from '../domain/index.ts';
import type { EmitEvent } from './events/event-emitter.ts';
import type { UpstreamPool } from './upstream-pool.ts';

/** Client sessions: their start and end, and their notifications to and from isolated connections. */
export interface ClientNotices {
  /** A client has initialized a session. */
  begin(session: string, caller: Caller): void;
  /** Sets the listener for notifications to that session. It is removed when the session ends. */
  listen(session: string, listener: NoticeListener): void;
  /** The client's roots have changed: the servers that get them are told. */
  rootsChanged(session: string): void;
  /** The client is gone: its connections are closed. */
  end(session: string): void;
}

export type NoticeListener = (method: string, params: Readonly<Record<string, unknown>>) => void;

export interface ClientNoticesDeps {
  /** Of all projects. */
  pools(): readonly UpstreamPool[];
  /** The listeners by session. */
  readonly listeners: Map<string, NoticeListener>;
  emitFor(project: string): EmitEvent;
}

export function createClientNotices({ pools, listeners, emitFor }: ClientNoticesDeps): ClientNotices {
  const callers = new Map<string, Pick<Caller, 'project' | 'agent'>>();

  function* isolated() {
    for (const { upstreams } of pools()) {
      for (const { dispatch } of upstreams.values()) if (dispatch.isolated !== undefined) yield dispatch.isolated;
    }
  }

  return {
    begin(session, { project, agent, run, tokenId }) {
      callers.set(session, { project, agent });
      emitFor(project)({ type: 'session.opened', session, agent, run, ...(tokenId === undefined ? {} : { tokenId }) });
    },
    listen: (session, listener) => listeners.set(session, listener),
    rootsChanged(session) {
      for (const connections of isolated()) connections.rootsChanged(session);
    },
    end(session) {
      listeners.delete(session);
      for (const connections of isolated()) connections.endSession(session);
      const caller = callers.get(session);
      if (caller === undefined) return;
      callers.delete(session);
      emitFor(caller.project)({ type: 'session.closed', session, agent: caller.agent });
    },
  };
}
