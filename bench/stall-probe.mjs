// Preloaded into a hub whose event loop is watched: answers each message of the parent with the longest time that the
// loop was busy since the message before, and begins anew. Keeps the process no longer alive than it wants to be.
const tickMs = 1;
let last = performance.now();
let lastCpu = process.cpuUsage();
let longest = { longestMs: 0, cpuMs: 0 };

setInterval(() => {
  const now = performance.now();
  const { user, system } = process.cpuUsage(lastCpu);
  lastCpu = process.cpuUsage();
  // On a busy machine others take a part of the time; the processor time of the process is its own.
  if (now - last - tickMs > longest.longestMs)
    longest = { longestMs: now - last - tickMs, cpuMs: (user + system) / 1000 };
  last = now;
}, tickMs).unref();

process.on('message', () => {
  process.send({ ...longest, rss: process.memoryUsage().rss });
  longest = { longestMs: 0, cpuMs: 0 };
});
process.channel.unref();
