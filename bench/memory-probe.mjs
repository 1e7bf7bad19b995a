// Preloaded into a hub whose heap is measured: answers each message of the parent with what is left after a
// collection. Needs --expose-gc. Keeps the process no longer alive than it wants to be.
process.on('message', () => {
  // The second pass takes what the finalizers of the first one let go.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heapUsed, external, rss });
});
process.channel.unref();
