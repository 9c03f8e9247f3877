import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationAgentKeyRow } from "../storage/tables/federation.ts";

const add = prepare<FederationAgentKeyRow>()(
  db
    .insertInto("federation_agent_keys")
    .values({ agent_id: p("agent_id"), public_key: p("public_key") })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Notes the key under which an agent of another relay has delivered work; the first one stays. */
export async function keepProvenKey(tx: Tx, proven: FederationAgentKeyRow): Promise<void> {
  await tx.run(add, proven);
}

const ofAgent = prepare<{ agent_id: string }>()(
  db.selectFrom("federation_agent_keys").selectAll().where("agent_id", "=", p("agent_id")),
);

export async function provenKey(reader: Reader, agent_id: string): Promise<string | undefined> {
  return (await reader.get(ofAgent, { agent_id }))?.public_key;
}
