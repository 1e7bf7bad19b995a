export function trustFolder(configHome: string, folder: string): void;
