/**
 * A loopback proxy that adds an Authorization header, for programs that cannot send one of their own:
 *
 *   AUTHORIZATION='Bearer …' node add-header-proxy.mjs --to URL [--port N]
 *
 * Everything else passes as it came, the Host and Origin headers too, so that the server behind it still judges them.
 */
import { createServer, request } from 'node:http';
import { parseArgs } from 'node:util';
import { listen } from './raw/http.mjs';

const { values } = parseArgs({ options: { to: { type: 'string' }, port: { type: 'string', default: '0' } } });
const target = new URL(values.to);

const http = createServer((req, res) => {
  const onward = request(
    {
      host: target.hostname,
      port: target.port,
      method: req.method,
      path: req.url,
      headers: { ...req.headers, authorization: process.env.AUTHORIZATION },
    },
    (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      // An event stream says nothing for a while; its client waits for the headers.
      res.flushHeaders();
      answer.pipe(res);
      answer.on('error', () => res.destroy());
    },
  );
  onward.on('error', () => res.destroy());
  // A client that goes away means something to the server: pass it on.
  res.on('close', () => onward.destroy());
  req.pipe(onward);
});

await listen(http, Number(values.port), target.pathname);
