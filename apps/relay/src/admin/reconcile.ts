import type { Answer, Operations } from "@agent/wire";
import type { Services } from "../services.ts";

/** Checks all books now, by command of the operator. */
export async function reconcile({
  reconciler,
}: Pick<Services, "reconciler">): Promise<Answer<Operations["reconcile"]>> {
  const books = await reconciler.checkAll();
  const checks = books.checks.map((check) => ({ ...check, ids: [...check.ids] }));
  return { status: 200, body: { ...books, checks } };
}
