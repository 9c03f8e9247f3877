import type { CallRefusal, RelayClient } from "@agent/client";
import type { DiscoveryEntry, Received } from "@agent/wire";

type Provider = Received<typeof DiscoveryEntry>;

export type ProvidersResult =
  | { readonly ok: true; readonly providers: readonly [Provider, ...Provider[]] }
  | Pick<CallRefusal, "ok" | "code" | "message">;

/** Finds the other agents that offer all of the capabilities, in the order of the relay. */
export async function findProviders(
  client: RelayClient,
  of: {
    readonly capabilities: readonly string[];
    readonly ownId: string;
    readonly signal?: AbortSignal;
  },
): Promise<ProvidersResult> {
  const { capabilities, ownId, signal } = of;
  const [capability = ""] = capabilities;
  const perCall = signal === undefined ? {} : { signal };
  const found = await client.discover({ query: { capability } }, perCall);
  if (!found.ok) return found;
  const [first, ...rest] = found.body.agents.filter(
    (agent) =>
      agent.agent_id !== ownId && capabilities.every((one) => agent.capabilities.includes(one)),
  );
  if (first !== undefined) return { ok: true, providers: [first, ...rest] };
  const message = "No other agent offers this capability";
  return { ok: false, code: "task.no_candidate", message };
}
