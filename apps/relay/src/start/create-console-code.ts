import type { Config } from "../config/config.ts";
import { operatorCaller } from "../identity/caller.ts";
import type { OpenRelay } from "../open-relay.ts";

/** Creates a code for the console in the name of the operator's first token; undefined without a console. */
export async function createConsoleCode(
  { apiTokens, server }: Config,
  { operatorTokens, freezer, consoleSessions }: OpenRelay,
): Promise<string | undefined> {
  if (server.console !== "on" || freezer.frozen()?.damaged === true) return undefined;
  const [token = ""] = apiTokens;
  const caller = operatorTokens.find(token) ?? operatorCaller;
  return (await consoleSessions.createCode(caller, "operate")).code;
}
