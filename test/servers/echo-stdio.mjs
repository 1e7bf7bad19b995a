/** Echo over stdio, handshake era only: `node echo-stdio.mjs`. */
import { createEchoServer } from './raw/echo-tools.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

serveStdio(createEchoServer('echo-stdio', 'stdio'), 'legacy');
