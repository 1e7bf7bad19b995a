/** Echo over stdio, modern era only; a handshake gets an error: `node echo-modern.mjs`. */
import { createEchoServer } from './raw/echo-tools.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

serveStdio(createEchoServer('echo-modern', 'stdio'), 'modern');
