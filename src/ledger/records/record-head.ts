/** The members with which every record of a call begins, in this order. */
export interface RecordHead {
  readonly kind: string;
  readonly ts: string;
  readonly id: string;
  /** Where the other members begin. */
  readonly end: number;
}

/** Reads them without parsing the whole line: a journal may have a gigabyte. Undefined for records of other kinds. */
export function recordHead(line: string): RecordHead | undefined {
  if (!line.startsWith(beforeKind)) return undefined;
  const kindEnd = line.indexOf('"', beforeKind.length);
  if (!line.startsWith(beforeTime, kindEnd)) return undefined;
  const timeBegin = kindEnd + beforeTime.length;
  const timeEnd = line.indexOf('"', timeBegin);
  if (!line.startsWith(beforeId, timeEnd)) return undefined;
  const idBegin = timeEnd + beforeId.length;
  const idEnd = line.indexOf('"', idBegin);
  if (idEnd < 0) return undefined;
  return {
    kind: line.slice(beforeKind.length, kindEnd),
    ts: line.slice(timeBegin, timeEnd),
    id: line.slice(idBegin, idEnd),
    end: idEnd + 1,
  };
}

const beforeKind = '{"k":"';
const beforeTime = '","ts":"';
const beforeId = '","id":"';
