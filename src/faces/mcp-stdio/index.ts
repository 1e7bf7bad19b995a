export { type StdioFaceDeps, serveStdio } from './serve-stdio.ts';
