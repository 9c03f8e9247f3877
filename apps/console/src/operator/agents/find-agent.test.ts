import { expect, test } from "vitest";
import type { RelayCaller } from "../../shared/relay/call-relay.ts";
import { findAgent } from "./find-agent.ts";

const ID = "019b7d21-53eb-7ccd-926c-3badff397a01";

/** Answers like a relay with more impostors, which come first, than a page of a search has rows. */
function createRelay(known: string) {
  const impostors = Array.from({ length: 10 }, (_, at) => ({ agent_id: `0000000${at}`, name: ID }));
  const asked: unknown[] = [];
  const call = async (_: string, { query }: { query: { agent?: string; q?: string } }) => {
    asked.push(query);
    const agents = query.q === undefined ? [{ agent_id: known, name: "honest" }] : impostors;
    return {
      ok: true,
      body: {
        agents: agents.filter(({ agent_id }) => query.q !== undefined || agent_id === query.agent),
      },
    };
  };
  return { relay: { call } as unknown as RelayCaller, asked };
}

test("D30: the console finds an agent while others have its id in their names", async () => {
  const { relay } = createRelay(ID);
  expect(await findAgent(relay, ID)).toMatchObject({ ok: true, body: { agent_id: ID } });
});

test("the console finds no agent by an id that none has, and does not ask for that of a wallet", async () => {
  const { relay, asked } = createRelay("another");
  expect(await findAgent(relay, ID)).toEqual({ ok: true, body: null });
  expect(asked).toHaveLength(1);
  expect(await findAgent(relay, "x402:0xabc")).toEqual({ ok: true, body: null });
  expect(asked).toHaveLength(1);
});
