import { relative, resolve } from 'node:path';
import { type FoundFiles, findFiles, isOfPlace } from './find-files.ts';
import type { Place } from './readers/reader.ts';
import { isInside, readNearby, readSourceFile, type SourceText } from './source-file.ts';

/** The files of a workspace as one load sees them: each is read once, and everything that was read is known afterwards. */
export interface SourceFiles {
  find(place: Place): Promise<FoundFiles>;
  /** By its path in the workspace. */
  read(file: string): Promise<SourceText>;
  /** A file that another one names. */
  nearby(path: string): Promise<SourceText>;
  /** By path in the workspace. */
  readonly taken: ReadonlyMap<string, SourceText>;
  /** Those of them that others name. */
  readonly named: ReadonlySet<string>;
}

/** `instead` takes the place of what is on disk, file by file. */
export function createSourceFiles(
  workspace: string,
  instead: ReadonlyMap<string, SourceText> = new Map(),
): SourceFiles {
  const taken = new Map<string, SourceText>();
  const named = new Set<string>();
  const pending = new Map<string, Promise<SourceText>>();

  function once(file: string, read: () => Promise<SourceText>): Promise<SourceText> {
    const known = pending.get(file);
    if (known !== undefined) return known;
    const given = instead.get(file);
    const reading = (given === undefined ? read() : Promise.resolve(given)).then((source) => {
      taken.set(file, source);
      return source;
    });
    pending.set(file, reading);
    return reading;
  }

  return {
    taken,
    named,
    read: (file) => once(file, () => readSourceFile(resolve(workspace, file))),
    nearby(path) {
      const asked = resolve(workspace, path);
      const read = (): Promise<SourceText> => readNearby(workspace, path);
      if (!isInside(workspace, asked)) return read();
      const file = relative(workspace, asked);
      named.add(file);
      return once(file, read);
    },
    async find(place) {
      const found = await findFiles(workspace, place);
      const given = [...instead].filter(([file, { kind }]) => kind === 'text' && isOfPlace(place, file));
      if (given.length === 0) return found;
      const files = new Set([...(found.kind === 'files' ? found.files : []), ...given.map(([file]) => file)]);
      return { kind: 'files', files: [...files].sort() };
    },
  };
}
