import { z } from 'zod';

/** `qm audit tools`, one for each agent */
export const auditToolsSchema = z.array(
  z.strictObject({
    agent: z.string(),
    from: z.string().nullable().describe('When the first recorded call of any agent began; null without calls'),
    calls: z.number().describe('Calls of the agent and of agents that it delegated to'),
    runs: z.number(),
    tools: z
      .array(
        z.strictObject({
          name: z.string().describe('The name that the agent sees'),
          server: z.string(),
          tool: z.string().describe("The server's own name"),
          tokens: z.number().describe('Estimate: bytes of the entry in the list, divided by 4'),
          uses: z.number().describe('Calls that were not denied; 0: unused'),
          lastUsed: z.string().nullable(),
        }),
      )
      .describe('All tools that the agent sees'),
    tokens: z.number().describe('Of all tools'),
    unusedTokens: z.number(),
    undiscovered: z.array(z.string()).describe('Servers of the agent that have not listed their tools yet'),
    file: z.string().describe('The file in which the tools can be taken from the agent'),
    snippet: z
      .string()
      .nullable()
      .describe(
        'What to merge into the file; null if nothing is unused, without calls, or if the format has no such list',
      ),
  }),
);

export type ToolAudit = z.infer<typeof auditToolsSchema>[number];
