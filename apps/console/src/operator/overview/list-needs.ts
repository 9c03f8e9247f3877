import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { showCount } from "../../shared/format/show-text.ts";

type Overview = Pick<
  BodyOf<"getOverview">,
  | "withdrawals_pending"
  | "approvals_pending"
  | "disputes_pending"
  | "outbox_failed"
  | "jobs"
  | "books"
  | "freeze"
  | "database"
  | "peers"
>;

/** A matter that needs the operator's attention. */
export interface OperatorNeed {
  readonly text: string;
  readonly href: string;
  /** The first part of the address of the page where it is resolved. */
  readonly page: string;
  readonly count: number;
  readonly isBad: boolean;
}

/** Lists what the operator must decide or repair, most urgent first. */
export function listNeeds(overview: Overview): OperatorNeed[] {
  const { withdrawals_pending, approvals_pending, disputes_pending, outbox_failed } = overview;
  const { jobs, books, freeze, database, peers } = overview;
  const late = jobs.filter(({ ok }) => !ok).map(({ job }) => job);
  const suspended = peers["suspended"] ?? 0;
  const needs: (OperatorNeed | false)[] = [
    database.write_fault !== undefined && toNeed(database.write_fault, "audit", 1, true),
    freeze.frozen && toNeed("the relay is frozen", "freeze", 1, true),
    books?.consistent === false && toNeed("the books do not balance", "money/books", 1, true),
    late.length > 0 && toNeed(`late: job ${late.join(", job ")}`, "audit", late.length, true),
    outbox_failed > 0 &&
      toNeed(`${showCount(outbox_failed, "settlement")} failed`, "federation", outbox_failed, true),
    disputes_pending > 0 &&
      toNeed(
        `${showCount(disputes_pending, "dispute")} to decide`,
        "disputes",
        disputes_pending,
        false,
      ),
    withdrawals_pending > 0 &&
      toNeed(
        `${showCount(withdrawals_pending, "withdrawal")} waiting`,
        "money/withdrawals",
        withdrawals_pending,
        false,
      ),
    suspended > 0 &&
      toNeed(`${showCount(suspended, "peer")} suspended`, "federation", suspended, false),
    approvals_pending > 0 &&
      toNeed(
        `${showCount(approvals_pending, "approval")} waiting for votes`,
        "approvals",
        approvals_pending,
        false,
      ),
  ];
  return needs.filter((need) => need !== false);
}

function toNeed(text: string, address: string, count: number, isBad: boolean): OperatorNeed {
  const path = address.split("/");
  return { text, href: formatHashRoute(path), page: path[0] ?? "", count, isBad };
}

/** Counts the open matters behind a link of the frame. */
export function countNeeds(overview: Overview, page: string): number {
  return listNeeds(overview)
    .filter((need) => need.page === page)
    .reduce((sum, { count }) => sum + count, 0);
}
