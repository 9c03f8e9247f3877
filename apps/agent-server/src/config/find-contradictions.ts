import type { Config } from "./config.ts";
import { isLoopback } from "../http/hosts.ts";
import { checkPrivateKey } from "../identity/identity.ts";

/** `about` names the settings that a rule looks at. */
interface Contradiction {
  readonly settings: readonly string[];
  readonly message: string;
}

/** What no single setting is to blame for, or comes from the environment alone. */
export function* findContradictions(config: Config): Iterable<Contradiction> {
  const { identity, server, relay, policy, quorum, selfTest } = config;
  const { maxRiskAuto, requireApprovalAbove, denyAbove } = policy;
  if (maxRiskAuto > requireApprovalAbove || requireApprovalAbove > denyAbove) {
    const rule = "must have max_risk_auto <= require_approval_above <= deny_above";
    yield { settings: ["policy"], message: `config policy: ${rule}` };
  }
  const keyFault = checkPrivateKey(identity.privateKeyHex);
  if (keyFault !== undefined) yield { settings: [], message: keyFault };
  if (quorum !== undefined && relay === undefined) {
    const message = "config policy.quorum: needs a relay (AGENT_SYNC_URL)";
    yield { settings: ["policy", "relay"], message };
  }
  if (selfTest && relay === undefined) {
    yield { settings: ["relay"], message: "--self-test: needs a relay (AGENT_SYNC_URL)" };
  }
  if (selfTest && server.transport === "stdio") {
    yield { settings: ["transport"], message: "--self-test: needs the http transport" };
  }
  if (server.transport === "http") yield* findUnprotectedAccess(config);
}

/** Over HTTP nobody is let in unasked, but on a loopback address where the operator said so. */
function* findUnprotectedAccess({ server, relay, knownAgents }: Config): Iterable<Contradiction> {
  if (server.allowAnonymous && !isLoopback(server.host)) {
    const message = "--allow-anonymous: is only possible on a loopback address";
    yield { settings: ["host"], message };
  }
  const hasNoKnownCallers = relay === undefined && knownAgents === undefined;
  if (server.authToken === undefined && hasNoKnownCallers && !server.allowAnonymous) {
    const message =
      "authToken: HTTP needs a token (AGENT_AUTH_TOKEN), a relay whose signed tokens count " +
      "(AGENT_SYNC_URL), a file of agents whose tokens count (AGENT_KNOWN_AGENTS), " +
      "or --allow-anonymous on a loopback address";
    yield { settings: ["authToken", "relay", "knownAgents"], message };
  }
}
