import {
  bootstrapAgent,
  call,
  createRelayClient,
  type CallRefusal,
  type RelayClient,
} from "@agent/client";
import { operations, type ListingBody } from "@agent/wire";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import { checkRelayPins, type RelayPin } from "../check-relay-pins.ts";

/** An agent's membership at its relay. */
export interface Membership {
  readonly client: RelayClient;
  readonly deviceId: string;
  /**
   * The relay's identity, pinned when the agent joined: the relay's tokens must be signed by this
   * key.
   */
  readonly relay: { readonly relayId: string; readonly publicKey: string };
}

export interface Profile {
  readonly name: string;
  readonly description: string;
  readonly agentType: string;
  readonly capabilities: readonly string[];
  readonly listing: ListingBody | undefined;
}

export interface JoinOptions {
  readonly url: string;
  /** Sent to the relay for the registration only; by default the agent's own token is used. */
  readonly registrationToken: string | undefined;
  readonly identity: Identity;
  /** The known identities of the relay; an agent sends nothing to another one. */
  readonly relayPins?: readonly RelayPin[];
  readonly profile: Profile;
  /** Absent: others cannot call this agent, so tasks arrive only over the socket. */
  readonly endpointUrl: string | undefined;
  readonly runtime: Runtime;
}

export type JoinResult = { readonly ok: true; readonly membership: Membership } | CallRefusal;

/**
 * Registers the agent at its relay with its key, endpoint and listing. All of it can be repeated.
 */
export async function joinRelay(options: JoinOptions): Promise<JoinResult> {
  const { url: baseUrl, identity, runtime } = options;
  const { agentId, secretKey, succession } = identity;
  const info = await call(operations.relayInfo, {}, { ...runtime, baseUrl });
  if (!info.ok) return info;
  const checked = checkRelayPins(options.relayPins ?? [], info.body);
  if (!checked.ok) {
    const { code } = checked;
    return { ok: false, code, status: 0, message: "The relay is not the pinned one" };
  }
  const bootstrapped = await bootstrapAgent({
    ...runtime,
    baseUrl,
    agentId,
    secretKey,
    succession,
  });
  if (!bootstrapped.ok) return bootstrapped;
  const relayDid = info.body.did;
  const agentClient = createRelayClient({
    ...runtime,
    baseUrl,
    relayDid,
    identity: bootstrapped.identity,
  });

  const published = await publishProfile(agentClient, options);
  if (!published.ok) return published;
  return {
    ok: true,
    membership: {
      client: agentClient,
      deviceId: bootstrapped.identity.deviceId,
      relay: { relayId: info.body.relay_id, publicKey: info.body.public_key },
    },
  };
}

/**
 * Publishes the listing before the endpoint, so that the agent is never found without its prices.
 */
export async function publishProfile(
  agentClient: RelayClient,
  options: JoinOptions,
): Promise<{ readonly ok: true } | CallRefusal> {
  const { identity, profile } = options;
  if (profile.listing !== undefined) {
    const params = { agentId: identity.agentId };
    const listed = await agentClient.putListing({ params, body: profile.listing });
    if (!listed.ok) return listed;
  }
  return registerEndpoint(agentClient, options);
}

async function registerEndpoint(
  agentClient: RelayClient,
  options: JoinOptions,
): Promise<{ readonly ok: true } | CallRefusal> {
  const { endpointUrl, identity, profile, registrationToken, runtime, url } = options;
  if (endpointUrl === undefined) return { ok: true };
  const client =
    registrationToken === undefined
      ? agentClient
      : createRelayClient({
          ...runtime,
          baseUrl: url,
          identity: { masterToken: registrationToken },
        });
  const { name, description, agentType } = profile;
  const answer = await client.registerAgent({
    body: {
      agent_id: identity.agentId,
      endpoint_url: endpointUrl,
      capabilities: [...profile.capabilities],
      metadata: { name, description, agent_type: agentType },
    },
  });
  if (!answer.ok) {
    // The agent signs its own tokens, so the refused token must be the operator's.
    return answer.code === "auth.unknown_token"
      ? { ...answer, message: "The relay refused AGENT_SYNC_TOKEN (or AGENT_API_TOKEN)" }
      : answer;
  }
  for (const { check, ok, detail } of answer.body.checks) {
    if (!ok) runtime.log("warn", "relay.check_failed", { check, detail });
  }
  return { ok: true };
}
