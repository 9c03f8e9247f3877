import { UNDECIDED_AFTER_MS } from "../../payments/undecided-payment.ts";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import { indexedBy, jsonRows } from "../../storage/queries/fragments.ts";
import type { PageParams, PageRow } from "./scan-pages.ts";

/**
 * Finds x402 payments whose outcome has been unknown for an hour, because the facilitator gave no definite
 * answer or none at all, and payments that began at a wrong time, an hour ahead of now.
 */
export const undecidedPayments = compile<PageParams>()(
  sql<PageRow>`
    with page as (
      select proof_hash from (
        select proof_hash, created_at from x402_payments where state = 'undecided'
        union all
        select proof_hash, created_at from x402_payments ${indexedBy("x402_payments_open")}
        where state = 'settling') as undecided
      where abs(created_at - cast(${param("now")} as bigint)) >= ${sql.lit(UNDECIDED_AFTER_MS)}
        and proof_hash > ${param("after")}
      order by proof_hash limit ${param("limit")}
    )
    select
      (select max(proof_hash) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(sql.ref("proof_hash"))} from page) as wrong`,
);
