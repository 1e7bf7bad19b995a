import { relative, resolve } from 'node:path';
import type { Place } from '../readers/reader.ts';
import { type FoundFiles, findFiles, isOfPlace } from './find-files.ts';
import { isInside, readNearby, readSourceFile, type SourceText } from './source-file.ts';

/** The files of a workspace during one load. Each is read once, and the set of files read is available afterwards. */
export interface SourceFiles {
  find(place: Place): Promise<FoundFiles>;
  /** Takes a path in the workspace. */
  read(file: string): Promise<SourceText>;
  /** The same for a file whose values go to servers: a link in it must not lead out of the workspace. */
  readWithin(file: string): Promise<SourceText>;
  /** Reads a file that another file refers to. */
  nearby(path: string): Promise<SourceText>;
  /** The files read so far, by path in the workspace. */
  readonly taken: ReadonlyMap<string, SourceText>;
  /** The files that other files refer to. */
  readonly named: ReadonlySet<string>;
}

export interface SourceFilesOptions {
  /** Texts that replace the contents on disk, by path in the workspace. */
  readonly instead?: ReadonlyMap<string, SourceText> | undefined;
  /** Nothing but these texts exists. */
  readonly only?: boolean | undefined;
}

export function createSourceFiles(
  workspace: string,
  { instead = new Map(), only = false }: SourceFilesOptions = {},
): SourceFiles {
  const taken = new Map<string, SourceText>();
  const named = new Set<string>();
  const pending = new Map<string, Promise<SourceText>>();

  function once(file: string, read: () => Promise<SourceText>): Promise<SourceText> {
    const known = pending.get(file);
    if (known !== undefined) return known;
    const given = instead.get(file) ?? (only ? absent : undefined);
    const readResult = (given === undefined ? read() : Promise.resolve(given)).then((source) => {
      taken.set(file, source);
      return source;
    });
    pending.set(file, readResult);
    return readResult;
  }

  return {
    taken,
    named,
    read: (file) => once(file, () => readSourceFile(resolve(workspace, file))),
    readWithin: (file) => once(file, () => readNearby(workspace, file)),
    nearby(path) {
      const asked = resolve(workspace, path);
      const read = (): Promise<SourceText> => readNearby(workspace, path);
      if (!isInside(workspace, asked)) return only ? Promise.resolve(absent) : read();
      const file = relative(workspace, asked);
      named.add(file);
      return once(file, read);
    },
    async find(place) {
      const found: FoundFiles = only ? { kind: 'files', files: [] } : await findFiles(workspace, place);
      const given = [...instead].filter(([file, { kind }]) => kind === 'text' && isOfPlace(place, file));
      if (given.length === 0) return found;
      const files = new Set([...(found.kind === 'files' ? found.files : []), ...given.map(([file]) => file)]);
      return { kind: 'files', files: [...files].sort() };
    },
  };
}

const absent: SourceText = { kind: 'absent' };
