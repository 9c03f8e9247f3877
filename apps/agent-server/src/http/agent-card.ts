import { DELEGATION_EXTENSION, type ListingBody } from "@agent/wire";
import type { Identity } from "../identity/identity.ts";
import type { Offer } from "../offer/offer.ts";
import type { ToolDefinition } from "../tools/definition.ts";

export interface AgentCardParts {
  readonly identity: Pick<Identity, "agentId" | "did">;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** The agent's own tools, without those that every agent has; the offered ones are its skills. */
  readonly tools: readonly ToolDefinition[];
  readonly offer: Offer;
  readonly listing: ListingBody | undefined;
  /** The URL at which others call `agent_task`. */
  readonly mcpUrl: string;
  /** Whether a caller must authenticate. */
  readonly requiresAuth: boolean;
}

/** The URI of the MCP binding; A2A identifies bindings other than its own three by a URI. */
const MCP_BINDING = "https://modelcontextprotocol.io/specification";
const BEARER_SCHEME = "bearer";

/** Builds the agent card of A2A 1.0, in the JSON form of its protocol buffers. */
export function buildAgentCard(parts: AgentCardParts) {
  const { identity, listing, offer } = parts;
  const offered = new Set([...offer.capabilities.values()].flat());
  const tools = parts.tools.filter(({ name }) => offered.has(name));
  return {
    name: parts.name,
    description: parts.description,
    version: parts.version,
    supportedInterfaces: [
      { url: parts.mcpUrl, protocolBinding: MCP_BINDING, protocolVersion: "1.0" },
    ],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: DELEGATION_EXTENSION,
          description: "Prices of skills, and the agent's id at relays",
          required: false,
          params: {
            agent_id: identity.agentId,
            did: identity.did,
            pricing: listing?.pricing ?? [],
          },
        },
      ],
    },
    ...(parts.requiresAuth && {
      securitySchemes: {
        [BEARER_SCHEME]: {
          httpAuthSecurityScheme: {
            scheme: "Bearer",
            description: "The owner's token, or `agent:` and a token signed by an agent's key",
          },
        },
      },
      securityRequirements: [{ schemes: { [BEARER_SCHEME]: { list: [] } } }],
    }),
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["text/plain"],
    skills: tools.map(({ name, description }) => ({
      id: name,
      name,
      description: description === "" ? name : description,
      tags: offer.listed.has(name) ? ["tool", "listed"] : ["tool"],
    })),
  };
}
