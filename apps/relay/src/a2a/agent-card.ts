import { hexToDidKey } from "@agent/crypto";
import { DELEGATION_EXTENSION, refuse, type Answer, type Operations } from "@agent/wire";
import { listOfferedCapabilities } from "../agents/discovery/listing.ts";
import { findListing } from "../agents/discovery/listing-store.ts";
import { findAgent } from "../agents/store.ts";
import { NO_STORE } from "../http/caching.ts";
import type { RequestContext } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { version } from "../version.ts";
import type { A2aDependencies } from "./submit-message.ts";
import { parseListing } from "../agents/discovery/parse-listing.ts";

type CardDependencies = Pick<Services, "storage" | "config" | "identity">;

const BEARER_SCHEME = "bearer";
const bearerSecurity = {
  securitySchemes: {
    [BEARER_SCHEME]: {
      httpAuthSecurityScheme: {
        scheme: "Bearer",
        description: "A token signed by an agent's device, or the operator's",
      },
    },
  },
  securityRequirements: [{ schemes: { [BEARER_SCHEME]: { list: [] } } }],
};

/** A2A identifies bindings other than its own three by a URI. */
const OPENAPI_BINDING = "https://spec.openapis.org/oas/v3.1.0";

/** Builds an agent's card in the JSON form of A2A 1.0; its interfaces lead to this relay. */
export async function agentCard(
  { storage, config }: CardDependencies,
  { shownOffers }: Pick<A2aDependencies, "shownOffers">,
  agentId: string,
  context: RequestContext,
): Promise<Answer<Operations["agentCard"]>> {
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined || agent.revoked_at !== null) return refuse("agent.not_found");
  const row = await findListing(storage.read, agentId);
  const listing = parseListing(row?.body);
  const capabilities = listOfferedCapabilities(agent, row);
  const pricing = listing?.pricing ?? [];
  // The card shows the maximum price for this caller, unless its message names a budget.
  await shownOffers.record(context, agentId, { capabilities, pricing });
  const { name, description } = JSON.parse(agent.metadata) as Partial<Record<string, string>>;
  const path = `/a2a/${encodeURIComponent(agentId)}`;
  const body = {
    name: name || agentId,
    description: listing?.description || description || `Agent ${agentId}`,
    version,
    supportedInterfaces: [
      {
        url: `${resolveBaseUrl(config, context.headers)}${path}`,
        protocolBinding: "JSONRPC",
        protocolVersion: PROTOCOL_VERSION,
      },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: DELEGATION_EXTENSION,
          description: "Prices of skills; the terms of a task in its message's metadata",
          required: false,
          params: {
            agent_id: agentId,
            did: agent.public_key === null ? null : hexToDidKey(agent.public_key),
            pricing,
          },
        },
      ],
    },
    ...bearerSecurity,
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: capabilities.map((capability) => ({
      id: capability,
      name: capability,
      description: capability,
      tags: ["capability"],
    })),
  };
  return { status: 200, body, ...toCacheHeaders(config) };
}

const PROTOCOL_VERSION = "1.0";

/** Builds the card of the relay. The relay does no work itself, so the card leads to discovery. */
export function relayCard(
  { config, identity }: CardDependencies,
  headers: Headers,
): Answer<Operations["relayCard"]> {
  const base = resolveBaseUrl(config, headers);
  const body = {
    name: config.identity.relayName,
    description: `Finds agents, holds money and passes tasks on. An agent's card is at ${base}/a2a/{agent_id}/.well-known/agent-card.json`,
    version,
    supportedInterfaces: [
      {
        url: `${base}/openapi.json`,
        protocolBinding: OPENAPI_BINDING,
        protocolVersion: PROTOCOL_VERSION,
      },
    ],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: DELEGATION_EXTENSION,
          description: "The relay's own id and key",
          required: false,
          params: { relay_id: identity.relayId, did: identity.did },
        },
      ],
    },
    ...bearerSecurity,
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["application/json"],
    skills: [
      {
        id: "discover",
        name: "Find agents",
        description: "Agents by capability, with price and trust",
        tags: ["discovery"],
      },
    ],
  };
  return { status: 200, body, ...toCacheHeaders(config) };
}

/** A card with the host of one request must not be shown to another caller. */
function toCacheHeaders({ server }: CardDependencies["config"]) {
  return server.baseUrl === undefined ? { headers: NO_STORE } : {};
}

/** Used if no address is configured: the one that the caller used. */
function resolveBaseUrl(config: CardDependencies["config"], headers: Headers): string {
  return config.server.baseUrl ?? `http://${headers.get("host") ?? "localhost"}`;
}
