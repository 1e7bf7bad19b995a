import { layoutIn } from '../files/layout.ts';
import { listStates } from '../files/state-origin.ts';
import { readServeFile, type ServeFile } from './serve-file.ts';

/** The hub of this user that has the port, of whatever workspace. */
export async function findServingHub(home: string, port: number): Promise<ServeFile | undefined> {
  for (const { folder, origin } of listStates(home)) {
    // A state that cannot be read is not what the operator asks about.
    const found = await readServeFile(layoutIn(origin.path, home, folder)).catch(() => undefined);
    if (found !== undefined && URL.canParse(found.url) && new URL(found.url).port === String(port)) return found;
  }
  return undefined;
}
