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
import { judgeRelay, type RelayPin } from "../judge-relay.ts";

/** What an agent is at its relay after it joined. */
export interface Membership {
  readonly client: RelayClient;
  readonly deviceId: string;
  /** The relay's own identity, pinned at this moment: tokens that claim to be the relay's need this key. */
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
  /** Given to the relay for registering only; without it the agent's own token is. */
  readonly registrationToken: string | undefined;
  readonly identity: Identity;
  /** What is known of the relay already; nothing is told to another one, or to one that cannot prove it. */
  readonly relayPins?: readonly RelayPin[];
  readonly profile: Profile;
  /** Absent: others cannot call this agent, so work comes over the socket alone. */
  readonly endpointUrl: string | undefined;
  readonly runtime: Runtime;
}

export type JoinResult = { readonly ok: true; readonly membership: Membership } | CallRefusal;

/** Makes the agent known at its relay: key, endpoint, listing. All of it can be repeated. */
export async function joinRelay(options: JoinOptions): Promise<JoinResult> {
  const { url: baseUrl, identity, runtime } = options;
  const { agentId, secretKey } = identity;
  const info = await call(operations.relayInfo, {}, { ...runtime, baseUrl });
  if (!info.ok) return info;
  const judged = judgeRelay(options.relayPins ?? [], info.body);
  if (!judged.ok) {
    const { code } = judged;
    return { ok: false, code, status: 0, message: "This is not the relay that was pinned" };
  }
  const bootstrapped = await bootstrapAgent({ ...runtime, baseUrl, agentId, secretKey });
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

/** Says what the agent offers, then where it is, so that it cannot be found free of charge in between. */
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
    // The agent signs its own tokens, so this can only be the operator's.
    return answer.code === "auth.unknown_token"
      ? { ...answer, message: "This relay does not take AGENT_SYNC_TOKEN (else AGENT_API_TOKEN)" }
      : answer;
  }
  for (const { check, ok, detail } of answer.body.checks) {
    if (!ok) runtime.log("warn", "relay.check_failed", { check, detail });
  }
  return { ok: true };
}
