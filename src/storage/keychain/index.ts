export {
  createKeychain,
  createNoKeychain,
  type Keychain,
  type KeychainDeps,
  type KeychainOptions,
} from './keychain.ts';
