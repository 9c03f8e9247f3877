import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

/** Returns by how many pixels a page is wider than its window. */
export const getOverflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

/** Runs axe by the debugger, because the policy of the page rightly blocks its script. */
export async function findBarriers(page: Page): Promise<string[]> {
  const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: source });
  const { result } = await session.send("Runtime.evaluate", {
    expression: "axe.run().then(({ violations }) => JSON.stringify(violations))",
    awaitPromise: true,
  });
  const violations = JSON.parse(String(result.value)) as {
    id: string;
    impact: string;
    nodes: { html: string }[];
  }[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
