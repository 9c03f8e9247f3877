import { bootstrapAgent, createRelayClient } from "@agent/client";
import type { Config } from "../config/config.ts";
import { loadIdentity } from "../identity/identity.ts";
import type { Runtime } from "../runtime.ts";
import { contestRejection, type ContestedCase, type ContestOrder } from "./contest-rejection.ts";

/** Contests a rejection for the command `contest`, beside the running agent; returns the faults. */
export async function runContest(
  { identity: settings, name, agentType, relay }: Config,
  order: ContestOrder,
  { runtime, report }: { readonly runtime: Runtime; readonly report: (line: string) => void },
): Promise<readonly string[]> {
  if (relay === undefined) return ["contest: the configuration must name a relay"];
  const loaded = await loadIdentity({ ...settings, name, agentType }, runtime);
  if (!loaded.ok) return [loaded.fault];
  const { identity } = loaded;
  const { url: baseUrl } = relay;
  const known = await bootstrapAgent({ ...runtime, ...identity, baseUrl });
  if (!known.ok) return [`contest: ${known.code}: ${known.message}`];
  const client = createRelayClient({ ...runtime, baseUrl, identity: known.identity });
  const contested = await contestRejection({ identity, client, runtime }, order);
  if (!contested.ok) return [`contest: ${contested.code}: ${contested.message}`];
  report(describeContest(contested.answer));
  return [];
}

/** Describes a contested rejection to the owner: what it holds, and until when it is undecided. */
export function describeContest({
  bond,
  deadline,
}: Pick<ContestedCase, "bond" | "deadline">): string {
  const time = deadline === null ? "" : ` until ${new Date(deadline).toISOString()}`;
  return `contested; bond ${bond} USD; the arbiter decides${time}`;
}
