import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import type { SourceNode } from '../../files/source-tree.ts';
import { createRulesWithPrefix } from '../../restrictions/rules-with-prefix.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { shellGrammar } from '../../variables/interpolation.ts';
import type { FileOutcome, Nearby, Reader } from '../reader.ts';
import { type AmpRules, readAmpRules } from './amp-rules.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, spoilAll } from './client-file.ts';

const files = ['.amp/settings.jsonc', '.amp/settings.json'];

/** Amp's workspace settings, which include the servers. */
export const ampFiles: readonly Reader[] = files.map((file) => ({
  place: { file },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: false,
  parse: parseJsonc,
  read,
}));

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<FileOutcome> {
  const own = readAmpRules(root, file);
  const all = [own, ...(await readBeside(file, nearby))];
  const readResult = readClientFile(root, file, createFormat(all));
  if (readResult.kind !== 'read') return readResult;
  const servers = spoilAll(
    readResult.content.servers,
    all.flatMap(({ findings }) => findings),
  );
  return { kind: 'read', content: { ...readResult.content, servers } };
}

/** The rules of the other file hold for these servers too. If it cannot be parsed, it denies everything by itself. */
async function readBeside(file: string, nearby: Nearby): Promise<readonly AmpRules[]> {
  const other = files.find((each) => each !== file) ?? file;
  const source = await nearby(other);
  const parsed = source.kind === 'text' ? parseJsonc(source.text) : undefined;
  return parsed?.kind === 'tree' ? [readAmpRules(parsed.root, other)] : [];
}

const key = 'amp.mcpServers';

function createFormat(all: readonly AmpRules[]): ClientFormat {
  const lists = all.map(createRulesWithPrefix);
  const plainLists = all.map(({ plain }) => createRulesWithPrefix({ rules: plain }));
  return {
    client: 'Amp',
    key,
    others: 'settings',
    reads: ['amp.mcpPermissions'],
    servers: {
      schema: z.strictObject({ ...looseServerShape, oauth: ignored }),
      guards: ['disabled', 'includeTools'],
      readBody(node, findings, place) {
        const body = readClientBody(node, findings, place);
        const prefix = `mcp__${place.field.slice(`${key}.`.length)}__`;
        const rules = [
          ...lists.flatMap((rulesFor) => rulesFor(prefix) ?? []),
          ...plainLists.flatMap((rulesFor) => rulesFor('') ?? []),
        ];
        const isPermitted = all.every((each) => each.permits(node));
        return { ...body, enabled: body.enabled && isPermitted, ...(rules.length === 0 ? {} : { rules }) };
      },
    },
  };
}
