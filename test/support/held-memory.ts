import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How many more bytes are held after the work, on the heap and in buffers. */
export function heldAfter(work: () => void): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // added by the flag
  const held = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = held();
  work();
  return held() - before;
}
