import { FEDERATION_FEATURES } from "@agent/federation-protocol";
import type { Config } from "../config/config.ts";
import { toSuccessionMember } from "../identity/relay-identity.ts";
import type { Services } from "../services.ts";
import { version } from "../version.ts";

/** Builds the identity document of the relay. */
export function buildRelayInfo({
  config,
  identity,
  freezer,
}: Pick<Services, "config" | "identity" | "freezer">) {
  return {
    relay_id: identity.relayId,
    did: identity.did,
    public_key: identity.publicKey,
    ...toSuccessionMember(identity),
    name: config.identity.relayName,
    base_url: config.server.baseUrl ?? null,
    fee_rate: config.payments.platformFeeRate,
    features: listFeatures(config),
    incarnation: freezer.incarnation,
    version,
  };
}

/** The features of this relay beyond the minimum of its contract. */
function listFeatures({ payments, federation }: Config): string[] {
  return [
    "tasks",
    "task-events",
    "budget",
    "withdrawals",
    "credentials",
    "ledgers",
    "records",
    "approvals",
    "pairing",
    "webhooks",
    "websocket",
    "mcp-forward",
    "inspections",
    "a2a",
    ...(payments.cardSecretKey === undefined ? [] : ["cards"]),
    ...(payments.realPayments ? ["x402"] : []),
    ...(federation.endpointUrl === undefined ? [] : ["federation", ...FEDERATION_FEATURES]),
  ];
}
