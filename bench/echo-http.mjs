// The upstream over HTTP: what one Node process on loopback can do at best. Ends when its stdin does.
import { answer, echoTools } from './harness/echo.mjs';
import { serveJson } from './harness/serve-json.mjs';

const tools = echoTools(Number(process.env.TOOLS ?? 10));

serveJson((message) => answer(message, tools));
