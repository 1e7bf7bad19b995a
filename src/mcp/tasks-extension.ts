import { isJsonObject } from '../base/index.ts';

/** A call may become a task, which is asked for its result later. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Whether a client or a server declares it. */
export function declaresTasks(capabilities: unknown): boolean {
  if (!isJsonObject(capabilities) || !isJsonObject(capabilities.extensions)) return false;
  const { extensions } = capabilities;
  return Object.hasOwn(extensions, tasksExtension) && isJsonObject(extensions[tasksExtension]);
}

/** Capabilities that declare no extension, as JSON text, and this one with them. */
export function withTasks(capabilities: string): string {
  return `${capabilities.slice(0, -1)}${capabilities === '{}' ? '' : ','}"extensions":{"${tasksExtension}":{}}}`;
}
