import { createHash } from 'node:crypto';
import { style } from './page-style.ts';

const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * Nothing loads or runs on the page but its own style, nothing frames it, and its forms go only to the hub. The referrer
 * stays inside: a link carries its key. Without any referrer, browsers would send forms with the origin `null`.
 */
export const pageHeaders: readonly (readonly [string, string])[] = [
  [
    'content-security-policy',
    `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  ],
  ['x-frame-options', 'DENY'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
  ['x-robots-tag', 'noindex'],
];
