import type { RunningAgent } from "../../start-agent.ts";

/** Prints how to get money if this agent may delegate and its account is empty. */
export async function reportEmptyAccount(
  { agent, relayLink, joined }: Pick<RunningAgent, "agent" | "relayLink" | "joined">,
  print: (text: string) => void,
): Promise<void> {
  const delegator = relayLink?.delegator;
  if (delegator === undefined || (await joined)?.ok !== true) return;
  const got = await delegator.getBalance(new AbortController().signal);
  const advice = got.ok ? got.answer["how_to_deposit"] : undefined;
  if (typeof advice === "string") print(`This agent is ${agent.identity.agentId}. ${advice}\n`);
}
