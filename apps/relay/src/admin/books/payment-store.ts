import { prepare, p, sql } from "../../storage/prepared.ts";
import type { PageParams, PageRow } from "./scan.ts";

const HOUR_MS = 3_600_000;

/** Payments by x402 of which it has not been known for an hour whether they came. */
export const undecidedPayments = prepare<PageParams>()(
  sql<PageRow>`
    with page as (
      select proof_hash, created_at from x402_payments
      where state = 'undecided' and created_at <= ${p("now")} - ${sql.lit(HOUR_MS)}
        and proof_hash > ${p("after")}
      order by proof_hash limit ${p("limit")}
    )
    select
      (select max(proof_hash) from page) as last,
      (select count(*) from page) as rows,
      (select json_group_array(proof_hash) from page) as wrong`,
);
