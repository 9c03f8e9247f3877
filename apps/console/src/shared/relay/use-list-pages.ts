import { useCallback } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import type { TablePage } from "../components/page-table.tsx";
import type { PageOperation } from "./operation-addresses.ts";
import type { BodyOf, PageAnswer, RequestOf } from "./call-relay.ts";
import { usePageContext } from "./page-context.ts";

/** The maximum number of rows on one page of a list. */
const PAGE_ROWS = 50;

/** Whether this is the only list that the relay refuses if it is empty (specification, "Credentials"). */
const isEmptyList = ({ code }: CallRefusal) => code === "credential.not_found";

const NO_ROWS = { ok: true, body: { rows: [], next: null } } as const;

type Listing = { readonly next_cursor: string | null };

/**
 * Returns a function that reads one page of a list for `PageTable`. `request` may contain a query; `rowsOf`
 * returns the rows of an answer and must always be the same function.
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
      // The caller has chosen parameters and a query that match the list.
      const answer = await relay.call(name, { ...request, query } as unknown as RequestOf<Name>);
      if (!answer.ok) return isEmptyList(answer) ? NO_ROWS : answer;
      // Each list of the contract states the cursor of its next page.
      const { next_cursor: next } = answer.body as Listing;
      return { ok: true, body: { rows: rowsOf(answer.body), next } };
    },
    [relay, key, rowsOf],
  );
}
