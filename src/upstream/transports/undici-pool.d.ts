/** The package has types only for its main entry point. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export = Pool;
}
