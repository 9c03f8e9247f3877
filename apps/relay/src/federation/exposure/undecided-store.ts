import { asMicro, ZERO, type Micro } from "@agent/budget";
import { getUndecidedAmount, type InboundTask } from "@agent/federation-protocol/forwarding";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import { jsonMember } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";

// The rows of an index are read first, and of these only the few that may count.
const undecidedRows = sql<{ body: string }>`
  select body from federation_inbound
  where ended_at is null and settlement_id is null and defaulted is null
    and ${jsonMember("body", "hold")} in ('released', 'due')`;

const undecidedOfPeer = compile<{ relay_id: string }>()(
  sql<{ body: string }>`${undecidedRows} and relay_id = ${param("relay_id")}`,
);

const undecidedOfAll = compile()(undecidedRows);

/** Returns the total of a peer's results that it has not answered or settled before their holds expired. */
export async function getPeerUndecidedAmount(read: Reader, relay_id: string): Promise<Micro> {
  return sumUndecided(await read.all(undecidedOfPeer, { relay_id }));
}

/** Returns the same total of all peers. */
export async function getTotalUndecidedAmount(read: Reader): Promise<Micro> {
  return sumUndecided(await read.all(undecidedOfAll, {}));
}

function sumUndecided(rows: readonly { readonly body: string }[]): Micro {
  const amounts = rows.map(({ body }) => getUndecidedAmount(JSON.parse(body) as InboundTask));
  return asMicro(amounts.reduce<number>((sum, amount) => sum + amount, ZERO));
}
