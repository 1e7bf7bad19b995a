import { text, wait } from './samples.mjs';

const done = { content: [text('Done.')] };

/** Tools about what happens while a call runs: logs, progress, a cut stream, lists that change. */
export function registerLifecycleTools(server, switches) {
  server.registerTool('test_tool_with_logging', { description: 'Logs three times' }, async (ctx) => {
    await ctx.mcpReq.log('info', 'Tool execution started');
    await wait(50);
    await ctx.mcpReq.log('info', 'Tool processing data');
    await wait(50);
    await ctx.mcpReq.log('info', 'Tool execution completed');
    return done;
  });

  server.registerTool('test_logging_tool', { description: 'Logs once, if the request asks for logs' }, async (ctx) => {
    await ctx.mcpReq.log('info', 'A line for those who asked');
    return done;
  });

  server.registerTool('test_tool_with_progress', { description: 'Reports progress three times' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `${progress} of 100` },
        });
      }
      await wait(50);
    }
    return done;
  });

  server.registerTool('test_reconnection', { description: 'Cuts its own stream before it answers' }, async (ctx) => {
    await wait(50);
    ctx.http?.closeSSE?.();
    await wait(100);
    return { content: [text('The answer came after the stream was cut.')] };
  });

  server.registerTool('test_trigger_tool_change', { description: 'Switches test_dynamic_tool on or off' }, () => {
    switches.flip('tool');
    return done;
  });

  server.registerTool('test_trigger_prompt_change', { description: 'Switches test_dynamic_prompt on or off' }, () => {
    switches.flip('prompt');
    return done;
  });
}
