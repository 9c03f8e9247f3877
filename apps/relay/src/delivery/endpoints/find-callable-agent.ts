import { findAgent } from "../../agents/store.ts";
import type { RouteServices } from "../route-services.ts";
import type { CallableAgent } from "./mcp-forward.ts";

/** Returns the agent if it has an endpoint that may be tried now. */
export async function findCallableAgent(
  { storage, backoff }: RouteServices,
  agentId: string,
): Promise<CallableAgent | undefined> {
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined || agent.registered === 0 || agent.revoked_at !== null) return undefined;
  const { endpoint_url: endpoint, public_key: publicKey } = agent;
  if (endpoint === null || publicKey === null || !backoff.mayTry(endpoint)) return undefined;
  return { agentId, endpoint, publicKey, wasUnreachable: agent.unreachable_at !== null };
}
