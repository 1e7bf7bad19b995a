/** Same as in package.json; a test enforces it. */
export const version = '0.1.0';
