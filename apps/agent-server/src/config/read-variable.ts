/** Returns undefined for a blank value. */
export function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
): string | undefined {
  const text = env[variable]?.trim();
  return text === "" ? undefined : text;
}

/**
 * Reads the token for registering at the relay. Of two, one of which replaces the other there, the first is
 * used.
 */
export function readRegistrationToken(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const given = readVariable(env, "AGENT_SYNC_TOKEN") ?? readVariable(env, "AGENT_API_TOKEN");
  return given?.split(",")[0]?.trim();
}
