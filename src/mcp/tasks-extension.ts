import { isJsonObject } from '../base/index.ts';

/** The extension by which a tool call may become a task whose result is fetched later. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Whether the capabilities of a client or server declare the extension. */
export function declaresTasks(capabilities: unknown): boolean {
  if (!isJsonObject(capabilities) || !isJsonObject(capabilities.extensions)) return false;
  const { extensions } = capabilities;
  return Object.hasOwn(extensions, tasksExtension) && isJsonObject(extensions[tasksExtension]);
}

/** Adds the extension to capabilities that are JSON text. */
export function withTasks(capabilities: string): string {
  if (!capabilities.includes('"extensions"')) {
    return `${capabilities.slice(0, -1)}${capabilities === '{}' ? '' : ','}"extensions":{"${tasksExtension}":{}}}`;
  }
  const declared = JSON.parse(capabilities) as { extensions?: object }; // made by `clientCapabilitiesOf`
  return JSON.stringify({ ...declared, extensions: { ...declared.extensions, [tasksExtension]: {} } });
}
