export { printable, printableLine, safeLine } from '../../../base/index.ts';
