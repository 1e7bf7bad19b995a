import { z } from 'zod';
import { clientScopes } from '../../../clients/index.ts';

const scope = z.enum(clientScopes);

const writtenFile = z.strictObject({
  path: z.string(),
  change: z.enum(['created', 'changed', 'removed']),
  backup: z.string().nullable().describe('A copy of the file as it was; null if there was none'),
});

const directEntry = {
  server: z.string().describe('The name in the hub; of another entry for the hub, its agent'),
  key: z.string().describe('The name in the file of the client'),
  file: z.string(),
};

/** `qm connect CLIENT` */
export const connectSchema = z.strictObject({
  client: z.string(),
  agent: z.string(),
  entry: z.string().describe('The name of the entry for the hub'),
  file: z.string().describe('The file that holds it'),
  scope,
  transport: z.enum(['stdio', 'http']),
  tokenVariable: z.string().nullable().describe('Where the client looks for its token; null over stdio'),
  files: z.array(writtenFile).describe('Empty: everything was so already'),
  switchedOff: z
    .array(z.strictObject({ ...directEntry, how: z.enum(['setting', 'removed', 'moved']) }))
    .describe('Entries of the client for servers of the hub; moved: to quartermaster.yaml'),
  left: z
    .array(z.strictObject({ ...directEntry, why: z.string() }))
    .describe('The same, but the client still uses them without the hub'),
  started: z
    .array(z.strictObject({ server: z.string(), tools: z.number().nullable() }))
    .describe('New servers that were started once; null: the server did not answer'),
  firstCall: z
    .strictObject({ server: z.string().nullable(), tool: z.string(), at: z.string() })
    .nullable()
    .describe('null: nobody waited for it, or none came'),
});

/** `qm connect CLIENT --print` */
export const connectPrintSchema = z.strictObject({
  client: z.string(),
  entry: z.string(),
  file: z.string(),
  scope,
  snippet: z.string(),
});

/** `qm connect`, and `qm disconnect` with the connected ones only */
export const clientListSchema = z.array(
  z.strictObject({
    client: z.string(),
    title: z.string(),
    found: z.string().nullable().describe('A file or folder of the client on this machine; null: none'),
    agent: z.string().nullable().describe('The agent as which it is connected to this workspace'),
    file: z.string().nullable().describe('The file that holds the entry for the hub'),
  }),
);

/** `qm disconnect CLIENT` */
export const disconnectSchema = z.strictObject({
  client: z.string(),
  connected: z.boolean().describe('false: it was not connected, and nothing was changed'),
  files: z.array(writtenFile),
  restored: z.array(z.string()).describe('Servers that the client reaches by itself again'),
});

export type ConnectAnswer = z.infer<typeof connectSchema>;
export type ConnectPrinted = z.infer<typeof connectPrintSchema>;
export type ClientRow = z.infer<typeof clientListSchema>[number];
export type DisconnectAnswer = z.infer<typeof disconnectSchema>;
