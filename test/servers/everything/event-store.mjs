const keep = 1000;

/** What a client session may ask to hear again, in memory and bounded. */
export function createEventStore() {
  const events = [];
  let next = 0;
  return {
    async storeEvent(streamId, message) {
      next += 1;
      const eventId = `${streamId}_${next}`;
      events.push({ streamId, eventId, message });
      if (events.length > keep) events.shift();
      return eventId;
    },
    async getStreamIdForEventId(eventId) {
      return events.find((event) => event.eventId === eventId)?.streamId;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const start = events.findIndex((event) => event.eventId === lastEventId);
      if (start === -1) throw new Error(`unknown event ${lastEventId}`);
      const { streamId } = events[start];
      for (const event of events.slice(start + 1)) {
        // A priming event is stored as an empty message; it carries nothing to hear again.
        if (event.streamId === streamId && event.message?.jsonrpc) await send(event.eventId, event.message);
      }
      return streamId;
    },
  };
}
