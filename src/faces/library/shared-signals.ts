/**
 * Listeners of signals that much work may share. Node warns of a leak when one signal gets its eleventh listener, so
 * each signal gets one here, however many wait for it. `AbortSignal.any` would not do: on Node 22 it costs the more, the
 * more signals were derived from the same one.
 */
export interface SharedSignals {
  /** Calls the listener when the signal aborts, at once if it already has. The result ends that. */
  onAbort(signal: AbortSignal, listener: () => void): () => void;
}

export function createSharedSignals(): SharedSignals {
  const fans = new WeakMap<AbortSignal, Fan>();
  return {
    onAbort(signal, listener) {
      if (signal.aborted) {
        listener();
        return () => {};
      }
      const fan = fans.get(signal) ?? createFan(signal, () => fans.delete(signal));
      fans.set(signal, fan);
      return fan.add(listener);
    },
  };
}

interface Fan {
  add(listener: () => void): () => void;
}

function createFan(signal: AbortSignal, onEmpty: () => void): Fan {
  const entries = new Set<{ readonly listener: () => void }>();
  const abort = (): void => {
    onEmpty();
    for (const { listener } of entries) listener();
  };
  signal.addEventListener('abort', abort, { once: true });
  return {
    add(listener) {
      const entry = { listener };
      entries.add(entry);
      return () => {
        if (!entries.delete(entry) || entries.size > 0 || signal.aborted) return;
        signal.removeEventListener('abort', abort);
        onEmpty();
      };
    },
  };
}
