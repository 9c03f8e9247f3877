import type { Config } from "./config.ts";
import { BEARER_RULE, BEARER_TOKEN } from "./config-settings.ts";
import { isLoopback } from "../http/allowed-hostnames.ts";
import { checkPrivateKey } from "../identity/identity.ts";

/** `settings` are the ones that the rule reads. */
interface Contradiction {
  readonly settings: readonly string[];
  readonly message: string;
}

/** Finds faults between settings, and faults of values that come from the environment alone. */
export function* findContradictions(config: Config): Iterable<Contradiction> {
  const { identity, server, relay, policy, quorum, command, selfTest, paidByOperator } = config;
  const { maxRiskAuto, requireApprovalAbove, denyAbove } = policy;
  if (maxRiskAuto > requireApprovalAbove || requireApprovalAbove > denyAbove) {
    const rule = "must have max_risk_auto <= require_approval_above <= deny_above";
    yield { settings: ["policy"], message: `config policy: ${rule}` };
  }
  const keyFault = checkPrivateKey(identity.privateKeyHex);
  if (keyFault !== undefined) yield { settings: [], message: keyFault };
  for (const message of listUnsendableTokens(config)) yield { settings: [], message };
  if (quorum !== undefined && relay === undefined) {
    const message = "config policy.quorum: requires a relay (AGENT_SYNC_URL)";
    yield { settings: ["policy", "relay"], message };
  }
  for (const setting of ["delegation", "ledgers"] as const) {
    if (!config[setting] || relay !== undefined) continue;
    const message = `${setting}: requires a relay (AGENT_SYNC_URL)`;
    yield { settings: [setting, "relay"], message };
  }
  if (command !== undefined && command !== "confirm-tools" && relay === undefined) {
    yield { settings: ["relay"], message: `${command}: requires a relay (AGENT_SYNC_URL)` };
  }
  if (selfTest && relay === undefined) {
    yield { settings: ["relay"], message: "--self-test: requires a relay (AGENT_SYNC_URL)" };
  }
  if (paidByOperator && !selfTest) {
    yield { settings: [], message: "--paid-by-operator: requires --self-test" };
  }
  if (paidByOperator && relay?.registrationToken === undefined) {
    const message = "--paid-by-operator: requires the operator's token (AGENT_API_TOKEN)";
    yield { settings: ["relay"], message };
  }
  if (selfTest && server.transport === "stdio") {
    yield { settings: ["transport"], message: "--self-test: requires the http transport" };
  }
  if (command === undefined && server.transport === "http") yield* findUnprotectedAccess(config);
}

/** A token that no header can carry would make its server look unreachable. */
function listUnsendableTokens({ relay, llm, memory }: Config): string[] {
  const tokens = {
    "AGENT_SYNC_TOKEN (or AGENT_API_TOKEN)": relay?.registrationToken,
    AGENT_LLM_API_KEY: llm?.apiKey,
    AGENT_EMBEDDINGS_API_KEY: memory.embeddings?.apiKey,
  };
  return Object.entries(tokens)
    .filter(([, token]) => token !== undefined && !BEARER_TOKEN.test(token))
    .map(([variable]) => `${variable}: ${BEARER_RULE}`);
}

/** Rejects unauthenticated HTTP access, except on a loopback address with explicit permission. */
function* findUnprotectedAccess({ server, relay, knownAgents }: Config): Iterable<Contradiction> {
  if (server.allowAnonymous && !isLoopback(server.host)) {
    const message = "--allow-anonymous: is allowed only on a loopback address";
    yield { settings: ["host"], message };
  }
  const hasNoKnownCallers = relay === undefined && knownAgents === undefined;
  if (server.authToken === undefined && hasNoKnownCallers && !server.allowAnonymous) {
    const message =
      "authToken: HTTP requires a token (AGENT_AUTH_TOKEN), a relay whose signed tokens are accepted " +
      "(AGENT_SYNC_URL), a file of known agents (AGENT_KNOWN_AGENTS), " +
      "or --allow-anonymous on a loopback address";
    yield { settings: ["authToken", "relay", "knownAgents"], message };
  }
}
