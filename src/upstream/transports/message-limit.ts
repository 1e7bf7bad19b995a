import { getHeapStatistics } from 'node:v8';

/** The largest message that a server may send. */
export const hardMessageBytes: number = 64 * 1024 * 1024;

/** Long lines that stdio servers have begun and not ended, of all of them together. */
export const maxLineBytes: number = Math.min(4 * hardMessageBytes, Math.floor(getHeapStatistics().heap_size_limit / 4));

/** A single message of a server that is read: a hub that was given a small heap reads no message that would fill it. */
export const maxMessageBytes: number = Math.min(hardMessageBytes, Math.floor(getHeapStatistics().heap_size_limit / 8));
