import type { Config } from "./config.ts";

/** Lists the values that must never leave the process in a log line or a response. */
export function listSecrets(config: Config): readonly string[] {
  const { apiTokens, identity, payments, storage } = config;
  const { cardSecretKey, cardWebhookSecret } = payments;
  const secrets = new Set([
    ...apiTokens,
    identity.keyPassphrase,
    cardSecretKey,
    cardWebhookSecret,
    storage.databaseUrl,
    ...listPasswords(storage.databaseUrl),
    storage.databaseListenUrl,
    ...listPasswords(storage.databaseListenUrl),
  ]);
  return [...secrets].filter((secret) => secret !== undefined);
}

/** Lists the password of an address both as written there and decoded. */
function listPasswords(address: string | undefined): readonly string[] {
  const { password = "" } = (address !== undefined && URL.parse(address)) || {};
  return password === "" ? [] : [password, decodeURIComponent(password)];
}
