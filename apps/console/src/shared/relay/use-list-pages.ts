import { useCallback } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import type { TablePage } from "../components/page-table.tsx";
import type { PageOperation } from "./operation-addresses.ts";
import type { BodyOf, PageAnswer, RequestOf } from "./call-relay.ts";
import { usePageContext } from "./page-context.ts";

/** The most rows of one page of a list. */
const PAGE_ROWS = 50;

/** The one list that is refused where it is empty (specification, "Credentials"). */
const isEmptyList = ({ code }: CallRefusal) => code === "credential.not_found";

const NO_ROWS = { ok: true, body: { rows: [], next: null } } as const;

type Listing = { readonly next_cursor: string | null };

/**
 * Returns a function that reads one page of a list for `PageTable`. `request` may have a query of its
 * own; `rowsOf` takes the rows from an answer and must stay the same.
 */
export function useListPages<Name extends PageOperation, Row>(
  name: Name,
  request: { readonly params?: object; readonly query?: object },
  rowsOf: (body: BodyOf<Name>) => readonly Row[],
): (cursor: string | undefined) => Promise<PageAnswer<TablePage<Row>>> {
  const { relay } = usePageContext();
  const key = JSON.stringify([name, request]);
  return useCallback(
    async (cursor) => {
      const query = { limit: PAGE_ROWS, ...request.query, ...(cursor !== undefined && { cursor }) };
      // The parameters and the query are those of the list, which the caller has chosen.
      const answer = await relay.call(name, { ...request, query } as unknown as RequestOf<Name>);
      if (!answer.ok) return isEmptyList(answer) ? NO_ROWS : answer;
      // Each list of the contract states where its next page begins.
      const { next_cursor: next } = answer.body as Listing;
      return { ok: true, body: { rows: rowsOf(answer.body), next } };
    },
    [relay, key, rowsOf],
  );
}
