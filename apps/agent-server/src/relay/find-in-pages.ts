import type { CallRefusal } from "@agent/client";
import { limits } from "@agent/wire";

type PageAnswer<Page> = { readonly ok: true; readonly body: Page } | CallRefusal;

/** The query parameters of one page. */
export interface PageQuery {
  readonly limit: string;
  readonly cursor?: string;
}

/** A relay whose list never ends must not keep the agent busy. */
const MAX_PAGES = 10_000 / limits.maxPageSize;

/**
 * Reads a list of the relay page by page until `find` returns something. `found` is undefined if the first 10,000
 * entries do not have it.
 */
export async function findInPages<Page extends { readonly next_cursor: string | null }, Found>(
  readPage: (query: PageQuery) => Promise<PageAnswer<Page>>,
  find: (page: Page) => Found | undefined,
): Promise<{ readonly ok: true; readonly found: Found | undefined } | CallRefusal> {
  const limit = String(limits.maxPageSize);
  let query: PageQuery = { limit };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await readPage(query);
    if (!answer.ok) return answer;
    const found = find(answer.body);
    const { next_cursor: cursor } = answer.body;
    if (found !== undefined || cursor === null) return { ok: true, found };
    query = { limit, cursor };
  }
  return { ok: true, found: undefined };
}
